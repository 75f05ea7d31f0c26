import { getEventListeners, once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, errors } from "undici";
import { expect, onTestFinished, test } from "vitest";
import { type ExchangeOptions, exchange } from "./exchange.ts";

/** A server and a pool with one connection to it. */
async function serve(listener: RequestListener) {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const dispatcher = new Agent({ connections: 1 });
  onTestFinished(async () => {
    await dispatcher.destroy();
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/notes?limit=1`;
  const statuses: number[] = [];
  return {
    server,
    statuses,
    get: (options?: Partial<ExchangeOptions>) =>
      exchange(dispatcher, url, { method: "GET", ...options }, (status) => statuses.push(status)),
  };
}

const reasonOf = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => expect.unreachable("the call fails"),
    (error) => error,
  );

test("exchange - returns the whole answer, without informational ones before it", async () => {
  const { get, statuses } = await serve((request, response) => {
    response.writeEarlyHints({ link: "</style.css>; rel=preload" });
    response.writeHead(429, { "retry-after": "7" });
    const bytes = Buffer.from(`${request.method} ${request.url} 伝令`);
    // The cut is within a character.
    response.write(bytes.subarray(0, -1), () => response.end(bytes.subarray(-1)));
  });
  const { statusCode, headers, text } = await get();
  expect([statusCode, headers["retry-after"], text]).toEqual([429, "7", "GET /notes?limit=1 伝令"]);
  expect(statuses).toEqual([429]);
});

test("exchange - an answer without a body has an empty text", async () => {
  const { get } = await serve((_request, response) => response.writeHead(204).end());
  expect(await get()).toMatchObject({ statusCode: 204, text: "" });
});

test("exchange - throws the reason of an aborted signal at once, and does not send what waited for a connection", async () => {
  const senders: (string | undefined)[] = [];
  const { get, server } = await serve((request, response) => {
    senders.push(request.headers.from);
    if (request.headers.from !== "held") response.end();
  });
  const holding = new AbortController();
  const waiting = new AbortController();
  const arrived = once(server, "request");
  const held = reasonOf(get({ headers: { from: "held" }, signal: holding.signal }));
  await arrived;
  const waits = reasonOf(get({ headers: { from: "waiting" }, signal: waiting.signal }));
  waiting.abort(new Error("not needed"));
  expect(await waits).toMatchObject({ message: "not needed" });
  expect(await reasonOf(get({ signal: waiting.signal }))).toMatchObject({ message: "not needed" });
  const last = get({ headers: { from: "last" } });
  holding.abort(new Error("too late"));
  expect(await held).toMatchObject({ message: "too late" });
  await last;
  expect(senders).toEqual(["held", "last"]);
});

test("exchange - aborts while the answer arrives, and stops listening to the signal of a finished call", async () => {
  const { get, server, statuses } = await serve((_request, response) => response.write("some"));
  const controller = new AbortController();
  server.once("request", (_request, response: ServerResponse) => response.end());
  await get({ signal: controller.signal });
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  const call = reasonOf(get({ signal: controller.signal }));
  await expect.poll(() => statuses.length).toBe(2);
  controller.abort(new Error("stopped"));
  expect(await call).toMatchObject({ message: "stopped" });
});

test("exchange - throws when the connection ends within the answer, or the answer takes too long", async () => {
  const cut = await serve((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("some", () => response.destroy());
  });
  expect(await reasonOf(cut.get())).toBeInstanceOf(errors.SocketError);
  expect(cut.statuses).toEqual([200]);
  const silent = await serve(() => undefined);
  expect(await reasonOf(silent.get({ headersTimeout: 10 }))).toBeInstanceOf(errors.HeadersTimeoutError);
  const stuck = await serve((_request, response) => response.write("some"));
  expect(await reasonOf(stuck.get({ bodyTimeout: 10 }))).toBeInstanceOf(errors.BodyTimeoutError);
});
