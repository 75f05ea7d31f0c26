/** A webhook target of tests: a server that records requests. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A received webhook. */
export interface Arrived {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A running target. */
export interface Target {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  /** Sets the response; undefined leaves requests unanswered. */
  answer(status: number | "never"): void;
  close(): Promise<void>;
}

/** Starts a target that answers 200. */
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
