/** A local HTTP server with scripted responses. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** A received request. */
export interface Seen {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server that stops at the end of the test. */
export interface TestServer {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly seen: readonly Seen[];
}

/** The response; a function can respond itself, or not at all. */
export type Reply =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: unknown }
  | ((response: ServerResponse) => void);

/** Starts a server. Strings are sent unchanged, everything else as JSON. */
export async function serving(reply: (seen: Seen) => Reply): Promise<TestServer> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const one = { method, path: url, headers, body: await text(request) };
    seen.push(one);
    const answer = reply(one);
    if (typeof answer === "function") return answer(response);
    const { status = 200, body } = answer;
    response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...answer.headers });
    response.end(body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}
