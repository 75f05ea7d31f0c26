/** Where webhooks are delivered to in tests: a server that keeps what it gets. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A webhook as it arrived. */
export interface Arrived {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A listening server. */
export interface Target {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  /** From now on it answers with that, or not at all. */
  answer(status: number | "never"): void;
  close(): Promise<void>;
}

/** Starts one that answers 200. */
export async function startTarget(): Promise<Target> {
  const arrived: Arrived[] = [];
  let answer: number | "never" = 200;
  const server = createServer(async (request, response) => {
    arrived.push({ headers: request.headers, body: await text(request) });
    if (answer !== "never") response.writeHead(answer, { location: "/elsewhere" }).end("seen");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    arrived,
    answer(status) {
      answer = status;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
