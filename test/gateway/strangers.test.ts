/** A stranger who opens all connections cannot block signed webhooks, and loses a connection with each rejection. */
import { Agent } from "node:http";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalBus } from "../harness/localbus.ts";
import { example, hookOf } from "../harness/webhooks.ts";
import { openGateway, paused, startWebhookBus, type TestGateway, withGateway } from "./gateways.ts";
import { ask, headOf, type Line, openLine } from "./requests.ts";

const deadline = { timeout: 60_000, interval: 20 };
/** Time limits that outlast the test. */
const unhurried = { headers: 600_000, request: 600_000, answer: 600_000 };
const limit = 8;

let local: LocalBus;
let gateway: TestGateway;
beforeAll(async () => {
  local = await startWebhookBus();
  gateway = await openGateway(local, { connections: limit, times: unhurried });
});
afterAll(async () => {
  await gateway?.stop();
  await local?.stop();
});

const push = () => hookOf("push", example("push"));
const unsigned = { ...push().headers, "x-hub-signature-256": `sha256=${"0".repeat(64)}` };
const announced = { ...unsigned, "content-length": "1000" };

/** Ways to hold a connection. */
const holds: readonly [what: string, begin: (url: string) => string][] = [
  ["sends nothing", () => ""],
  ["sends half a line", () => "POST /git"],
  ["never ends the headers", (url) => headOf(url, unsigned).slice(0, -2)],
  ["never ends the body", (url) => `${headOf(url, announced)}x`],
  [
    "waits for 100 Continue and sends nothing",
    (url) => headOf(url, { ...announced, expect: "100-continue" }),
  ],
  ["never ends a rejected body", (url) => headOf(new URL("/no", url).href, announced)],
  [
    "never ends a rejected chunked body",
    (url) => `${headOf(url, { ...unsigned, "transfer-encoding": "chunked" })}1\r\nx\r\n`,
  ],
];

/** Opens more connections than the limit, from the same address as the webhooks, as behind an ingress. */
async function crowd(begin: (url: string) => string): Promise<Line[]> {
  const lines: Line[] = [];
  for (let n = 0; n < limit + 3; n++) {
    const line = await openLine(gateway.url);
    line.socket.write(begin(gateway.hookUrl()));
    lines.push(line);
  }
  return lines;
}

describe("accepts webhooks while all connections belong to a stranger who", () => {
  test.each(holds)("%s", async (_what, begin) => {
    const lines = await crowd(begin);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let n = 0; n < 5; n++) {
      expect(await ask(gateway.hookUrl(), push())).toMatchObject({ status: 202 });
      expect(await ask(gateway.hookUrl(), { ...push(), agent })).toMatchObject({ status: 202 });
    }
    // The gateway closed the oldest ones and stays ready.
    await Promise.all(lines.slice(0, 3).map(({ closed }) => closed));
    expect(gateway.notReady()).toBeUndefined();
    agent.destroy();
    for (const { socket } of lines) socket.destroy();
  });
});

/** Rejected requests that more requests could follow on the same connection. */
const rejections: readonly [what: string, text: (url: string) => string, status: number][] = [
  ["an unknown path", (url) => headOf(new URL("/no", url).href, { "content-length": "0" }), 404],
  ["another method", (url) => headOf(url, {}).replace("POST", "GET"), 405],
  ["another content type", (url) => headOf(url, { "content-length": "0" }), 415],
  ["no length", (url) => `${headOf(url, { ...unsigned, "transfer-encoding": "chunked" })}0\r\n\r\n`, 411],
  ["no signature", (url) => headOf(url, { "content-type": "application/json", "content-length": "0" }), 401],
  ["a wrong signature", (url) => headOf(url, { ...unsigned, "content-length": "0" }), 401],
  [
    "a wrong signature of a large body",
    (url) => headOf(url, { ...unsigned, "content-length": "500000" }) + "x".repeat(500_000),
    401,
  ],
  [
    "a body that is too large",
    (url) => headOf(url, { ...unsigned, "content-length": String(26 * 2 ** 20) }),
    413,
  ],
  ["an expectation", (url) => headOf(url, { ...unsigned, "content-length": "0", expect: "more" }), 417],
  [
    "an upgrade",
    (url) => headOf(url, { connection: "upgrade", upgrade: "websocket" }).replace("POST", "GET"),
    405,
  ],
  [
    "many requests at once",
    (url) => headOf(new URL("/no", url).href, { "content-length": "0" }).repeat(100),
    404,
  ],
];

test.each(rejections)("closes the connection after rejecting %s", async (_what, text, status) => {
  const line = await openLine(gateway.url);
  line.socket.write(text(gateway.hookUrl()));
  await expect
    .poll(line.heard, deadline)
    .toMatch(new RegExp(`^HTTP/1.1 ${status} .*connection: close\r\n`, "is"));
  line.socket.end();
  await line.closed;
  expect(line.heard().match(/HTTP\/1\.1/g)).toHaveLength(1);
});

test("keeps the connection of a signed request that cannot be stored", () =>
  withGateway(
    local,
    async (other) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      await paused(local, async () => {
        const answer = await ask(other.hookUrl(), { ...push(), agent });
        expect(answer).toMatchObject({ status: 503, headers: { connection: "keep-alive" } });
      });
      agent.destroy();
    },
    { times: { store: 100 } },
  ));

test("reports refused connections, and answers signed requests in flight", () => {
  const registry = new Registry();
  const proven = async () => {
    const { values = [] } = (await registry.getSingleMetric("denrei_http_connections")?.get()) ?? {};
    return values.find(({ labels }) => labels.state === "proven")?.value;
  };
  return withGateway(
    local,
    async (other) => {
      let asked: Promise<unknown>[] = [];
      await paused(local, async () => {
        asked = [ask(other.hookUrl(), push()), ask(other.hookUrl(), push())];
        await expect.poll(proven, deadline).toBe(2);
        const refused = await ask(other.hookUrl(), push()).then(() => "answered", String);
        expect(refused).toMatch(/ECONNRESET|socket hang up/);
        expect(other.notReady()).toBe("refusing new connections: all 2 are in use. Run more replicas.");
      });
      for (const answer of await Promise.all(asked)) expect(answer).toMatchObject({ status: 202 });
    },
    { connections: 2, times: { store: 600_000, answer: 600_000 }, registry },
  );
});
