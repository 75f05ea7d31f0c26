/** The package `emulate` itself, and asking it. */
import type { IncomingHttpHeaders } from "node:http";
import { createEmulator, type Emulator, type SeedConfig } from "emulate";
import { Agent, request as send } from "undici";
import { freePort } from "../../local/parts/ports.ts";
import type { ApiAnswer, ApiCall } from "./call.ts";
import { prefixedLinkHeader, prefixedLinks } from "./links.ts";

/** A running emulator. */
export interface Upstream {
  readonly generatedSecrets: Emulator["generatedSecrets"];
  ask(call: ApiCall): Promise<ApiAnswer>;
  close(): Promise<void>;
}

/** What speaks of one connection only, or is said anew when the body is sent on. */
const ofTheConnection = new Set([
  "connection",
  "content-length",
  "date",
  "expect",
  "keep-alive",
  "transfer-encoding",
]);

/** Starts it in this process; links in its answers begin with `baseUrl`. */
export async function startUpstream(seed: SeedConfig, baseUrl: string): Promise<Upstream> {
  const { emulator, port } = await started(seed, baseUrl);
  // A connection per request: none is found dead that was kept.
  const dispatcher = new Agent({ pipelining: 0 });
  return {
    generatedSecrets: emulator.generatedSecrets,
    async ask({ method, path, headers, body }) {
      const answer = await send(`http://127.0.0.1:${port}${path}`, {
        method: method as "GET",
        dispatcher,
        headers: passedOn(headers),
        body: body.length > 0 ? body : null,
      });
      const { link, ...own } = passedOn(answer.headers);
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

/** It does not tell which port it was given, so it is told one. */
async function started(seed: SeedConfig, baseUrl: string): Promise<{ emulator: Emulator; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return { emulator: await createEmulator({ service: "github", port, baseUrl, seed }), port };
    } catch (error) {
      if (attempt >= 5 || (error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || ofTheConnection.has(name) ? [] : [[name, value] as const],
    ),
  );
}
