/** Runs the package `emulate` and sends requests to it. */
import type { IncomingHttpHeaders } from "node:http";
import { freePort } from "@denrei/cli/local/parts/ports";
import { createEmulator, type Emulator, type SeedConfig } from "emulate";
import { Agent, request as send } from "undici";
import type { ApiAnswer, ApiCall } from "./call.ts";
import { prefixedLinkHeader, prefixedLinks } from "./links.ts";

/** A running emulator. */
export interface Upstream {
  readonly generatedSecrets: Emulator["generatedSecrets"];
  ask(call: ApiCall): Promise<ApiAnswer>;
  close(): Promise<void>;
}

/** Headers that apply to one connection only, or that are generated again when a message is forwarded. */
const hopHeaders = new Set([
  "connection",
  "content-length",
  "date",
  "expect",
  "keep-alive",
  "transfer-encoding",
]);

/** Starts `emulate` in this process; links in its responses begin with `baseUrl`. */
export async function startUpstream(seed: SeedConfig, baseUrl: string): Promise<Upstream> {
  const { emulator, port } = await createOnFreePort(seed, baseUrl);
  // One connection per request, to avoid stale ones.
  const dispatcher = new Agent({ pipelining: 0 });
  return {
    generatedSecrets: emulator.generatedSecrets,
    async ask({ method, path, headers, body }) {
      const answer = await send(`http://127.0.0.1:${port}${path}`, {
        method: method as "GET",
        dispatcher,
        headers: forwarded(headers),
        body: body.length > 0 ? body : null,
      });
      const { link, ...own } = forwarded(answer.headers);
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      const isJson = String(own["content-type"]).startsWith("application/json");
      return {
        status: answer.statusCode,
        headers: link === undefined ? own : { ...own, link: prefixedLinkHeader(String(link)) },
        body: isJson ? prefixedLinks(bytes.toString(), baseUrl) : bytes,
      };
    },
    async close() {
      await emulator.close();
      await dispatcher.destroy();
    },
  };
}

/** `emulate` does not report its port, so one is chosen here. */
async function createOnFreePort(
  seed: SeedConfig,
  baseUrl: string,
): Promise<{ emulator: Emulator; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return { emulator: await createEmulator({ service: "github", port, baseUrl, seed }), port };
    } catch (error) {
      if (attempt >= 5 || (error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
}

function forwarded(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || hopHeaders.has(name) ? [] : [[name, value] as const],
    ),
  );
}
