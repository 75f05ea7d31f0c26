/** Who is refused hears it, though it still sends; who breaks off, or never ends, is waited for no longer than need be. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalBus } from "../harness/localbus.ts";
import { example, hookOf, signatureOf } from "../harness/webhooks.ts";
import { openGateway, startWebhookBus, type TestGateway } from "./gateways.ts";
import { headOf, openLine, pour } from "./requests.ts";

const MiB = 2 ** 20;
let local: LocalBus;
let gateway: TestGateway;
beforeAll(async () => {
  local = await startWebhookBus();
  gateway = await openGateway(local);
});
afterAll(async () => {
  await gateway?.stop();
  await local?.stop();
});

const { headers } = hookOf("push", example("push"));
const length = (bytes: number) => ({ "content-length": String(bytes) });
const without = (name: string) => Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));

/** What is sent, of which the first headers tell already that it is refused, or not before much of it was read. */
const refusals: readonly [why: string, at: string, headers: Record<string, string>, status: number][] = [
  ["it is not signed", "/github/app", without("x-hub-signature-256"), 401],
  ["there is no such address", "/", headers, 404],
  ["its content type is another", "/github/app", { ...headers, "content-type": "text/plain" }, 415],
  ["its signature is wrong", "/github/app", { ...headers, "x-hub-signature-256": signatureOf("") }, 401],
];

/** Known from the headers; what is wrong with the rest no one has to wait for. */
const early: typeof refusals = [
  ...refusals.slice(0, 3),
  ["it is announced as too large", "/github/app", { ...headers, ...length(25 * MiB + 1) }, 413],
];

test.each(early)("it is said before the body comes: %s", async (_why, at, own, status) => {
  const url = new URL(at, gateway.url).href;
  const line = await openLine(url);
  line.socket.write(headOf(url, { ...length(25 * MiB), ...own }));
  const answer = new RegExp(`^HTTP/1.1 ${status} .*connection: close\r\n.*\r\n\r\nexpected .*\n$`, "is");
  await expect.poll(line.heard, { timeout: 60_000 }).toMatch(answer);
  line.socket.destroy();
});

/** Sends a head and a body, listens only then, as many clients do, and returns what it hears. */
async function sendAll(url: string, own: Record<string, string>, parts: readonly (string | number)[]) {
  const line = await openLine(url);
  line.socket.pause();
  line.socket.write(headOf(url, { ...own, connection: "close" }));
  for (const part of parts) {
    if (typeof part === "number") await pour(line, part);
    else line.socket.write(part);
  }
  line.socket.resume();
  return line.closed;
}

describe("the answer is heard by who reads it after all was sent, though", () => {
  test.each(refusals)("%s", async (_why, at, own, status) => {
    const url = new URL(at, gateway.url).href;
    for (let round = 0; round < 3; round++) {
      const heard = await sendAll(url, { ...own, ...length(4 * MiB) }, [4 * MiB]);
      expect(heard).toContain(`HTTP/1.1 ${status} `);
      expect(heard).toContain("\r\n\r\nexpected ");
    }
  });

  test("it was announced as too large", async () => {
    for (let round = 0; round < 2; round++) {
      const heard = await sendAll(gateway.hookUrl(), { ...headers, ...length(32 * MiB) }, [32 * MiB]);
      expect(heard).toContain("HTTP/1.1 413 ");
      expect(heard).toContain("\r\n\r\nbody too large: limit 25 MB\n");
    }
  });

  test("its length is unknown", async () => {
    const chunked = { ...headers, "transfer-encoding": "chunked" };
    const parts = [`${(32 * MiB).toString(16)}\r\n`, 32 * MiB, "\r\n0\r\n\r\n"];
    const heard = await sendAll(gateway.hookUrl(), chunked, parts);
    expect(heard).toContain("HTTP/1.1 411 ");
    expect(heard).toContain("\r\n\r\nmissing header Content-Length\n");
  });
});
