import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { newRequest } from "../queue/request.ts";
import { readFirst } from "../worker/firstread.ts";
import { blockerOf } from "./blocker.ts";
import { kubeClient } from "./client.ts";
import { openConnection } from "./connection.ts";
import { ConfigMap } from "./kind.ts";
import { delayOf } from "./pending.ts";

const throttled = (response: ServerResponse, seconds?: number): void => {
  response.writeHead(429, seconds === undefined ? {} : { "retry-after": String(seconds) });
  response.end("Too many requests, please try again later.");
};

/** An API server in this process; `answer` receives each request's number, from 0. */
async function serving(answer: (response: ServerResponse, at: number) => void) {
  let requests = 0;
  const server = createServer((_, response) => answer(response, requests++));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const access = {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ context: "none", namespace: "default", tls: {}, headers: {} },
  };
  const client = kubeClient(await openConnection({ read: async () => access }));
  onTestFinished(async () => {
    await client.connection.close();
    server.close();
    server.closeAllConnections();
  });
  const { signal } = new AbortController();
  return {
    client,
    signal,
    get: () => client.request({ method: "GET", path: "/api", signal }),
    requests: () => requests,
  };
}

test("retries a throttled call after a short pause", async () => {
  const { get, requests } = await serving((response, at) => {
    if (at < 2) throttled(response);
    else response.end("{}");
  });
  expect(await get()).toEqual({});
  expect(requests()).toBe(3);
});

test("fails at once if the requested wait is long: the retry is scheduled on the bus", async () => {
  const { get, requests } = await serving((response) => throttled(response, 32));
  const error = await get().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ status: 429, retryAfterMillis: 32_000 });
  expect(blockerOf(error)?.reason).toBe("ApiServerUnavailable");
  expect(requests()).toBe(1);
});

test("fails at once if a webhook denies with a status code of throttling", async () => {
  const { get, requests } = await serving((response) => {
    const message = 'admission webhook "check.policy.io" denied the request: slow down';
    response.writeHead(429, { "content-type": "application/json" });
    response.end(JSON.stringify({ kind: "Status", status: "Failure", code: 429, message }));
  });
  await expect(get()).rejects.toMatchObject({ status: 429 });
  expect(requests()).toBe(1);
});

test("a call that waits for its retry or for an answer delays its signal", async () => {
  const held = Promise.withResolvers<ServerResponse>();
  const { get, requests, signal } = await serving((response, at) => {
    if (at === 0) throttled(response, 1);
    else if (at === 1) held.resolve(response);
    else response.end("{}");
  });
  const call = get();
  await expect.poll(() => delayOf(signal, 60_000)).toMatchObject({ status: 429 });
  (await held.promise).end("{}");
  await call;
  expect([delayOf(signal, 0), requests()]).toEqual([undefined, 2]);
});

test("an unanswered call delays its signal only when it is late", async () => {
  const held = Promise.withResolvers<ServerResponse>();
  const { get, signal } = await serving((response) => held.resolve(response));
  const call = get();
  const response = await held.promise;
  expect(delayOf(signal, 60_000)).toBeUndefined();
  const delay = delayOf(signal, 0);
  expect(delay?.message).toBe("GET /api was not answered in time");
  expect(blockerOf(new Error("time is up", { cause: delay }))?.reason).toBe("ApiServerUnavailable");
  response.end("{}");
  await call;
  expect(delayOf(signal, 0)).toBeUndefined();
});

test("the first read of a replay, which goes to the API server, counts as a call of its reconcile", async () => {
  const held = Promise.withResolvers<ServerResponse>();
  const { client, signal } = await serving((response) => held.resolve(response));
  const key = { namespace: "default", name: "made" };
  // A replay does not read from the store.
  const tools = { client, store: undefined as never };
  const read = readFirst(tools, ConfigMap, key, newRequest({ type: "replay" }), signal);
  const response = await held.promise;
  expect(delayOf(signal, 0)?.message).toBe(
    "GET /api/v1/namespaces/default/configmaps/made was not answered in time",
  );
  response.end("{}");
  expect(await read).toEqual({ live: {} });
});
