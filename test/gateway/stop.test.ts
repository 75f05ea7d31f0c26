/** Shutdown: the gateway finishes requests in flight, accepts no new ones, and waits a limited time. */
import { Agent } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LocalBus } from "../harness/localbus.ts";
import { example, hookOf } from "../harness/webhooks.ts";
import { openGateway, paused, startWebhookBus, storedOf, type TestGatewayOptions } from "./gateways.ts";
import { ask, headOf, openLine } from "./requests.ts";

const deadline = { timeout: 30_000, interval: 20 };
const minutes = 600_000;
let local: LocalBus;
beforeAll(async () => {
  local = await startWebhookBus();
});
afterAll(() => local?.stop());

const push = () => hookOf("push", example("push"));
const refused = (url: string) => ask(url, push()).then(() => "answered", String);

test("answers requests in flight, closes their connections, and refuses new connections", async () => {
  const gateway = await openGateway(local);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const url = gateway.hookUrl();
  const first = await ask(url, { ...push(), agent });
  expect(first).toMatchObject({ status: 202, headers: { connection: "keep-alive" } });
  const hooks = [push(), push()];
  const settled: string[] = [];
  let work: Promise<unknown>[] = [];
  await paused(local, async () => {
    // The first request is complete; of the second, only the headers were sent.
    const begun = ask(url, { ...(hooks[0] ?? expect.fail()), agent });
    const { headers, body } = hooks[1] ?? expect.fail();
    const line = await openLine(url);
    const length = String(Buffer.byteLength(body));
    line.socket.write(headOf(url, { ...headers, "content-length": length, expect: "100-continue" }));
    await expect.poll(line.heard, deadline).toMatch(/^HTTP\/1\.1 100 /);
    const stopped = gateway.stop();
    await expect.poll(() => refused(url), deadline).toContain("ECONNREFUSED");
    line.socket.write(body);
    work = [begun, line.closed, stopped];
    for (const one of work) void one.finally(() => settled.push("settled"));
    expect(await refused(url)).toContain("ECONNREFUSED");
    expect(settled).toEqual([]);
  });
  const [begun, heard] = await Promise.all(work);
  expect(begun).toMatchObject({ status: 202, headers: { connection: "close" } });
  expect(heard).toMatch(/\r\n\r\nHTTP\/1\.1 202 Accepted\r\n.*connection: close\r\n.*\r\n\r\nstored\n$/is);
  for (const { delivery } of hooks) expect(await storedOf(local, delivery)).toHaveLength(1);
  agent.destroy();
});

test("answers a last request on a kept-alive connection with connection: close", async () => {
  const gateway = await openGateway(local, { times: { linger: minutes } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const url = gateway.hookUrl();
  expect(await ask(url, { ...push(), agent })).toMatchObject({ status: 202 });
  const stopped = gateway.stop();
  expect(await refused(url)).toContain("ECONNREFUSED");
  const last = await ask(url, { ...push(), agent });
  expect(last).toMatchObject({ status: 202, headers: { connection: "close" } });
  await stopped;
  agent.destroy();
});

/** Connections that are open when the gateway stops, and send nothing more. */
const silent: readonly [what: string, text: (url: string) => string, options: TestGatewayOptions][] = [
  ["that have sent nothing", () => "", { times: { headers: 300, answer: minutes } }],
  [
    "whose headers are incomplete",
    (url) => headOf(url, {}).slice(0, -2),
    { times: { headers: 300, answer: minutes } },
  ],
  [
    "whose body is incomplete",
    (url) => headOf(url, { ...push().headers, "content-length": "100" }),
    { times: { headers: 300, request: 300, answer: minutes } },
  ],
  [
    "that still send a rejected body",
    (url) => headOf(url, { "content-length": "100" }),
    { times: { headers: 300, request: 300, answer: minutes } },
  ],
  [
    "whose time limits exceed that of an answer",
    (url) => headOf(url, { ...push().headers, "content-length": "100" }),
    { times: { headers: minutes, request: minutes, answer: 300 } },
  ],
];

test.each(silent)("does not wait for connections %s", async (_what, text, { times }) => {
  const gateway = await openGateway(local, { times: { look: 50, ...times } });
  const agent = new Agent({ keepAlive: true });
  const line = await openLine(gateway.url);
  line.socket.write(text(gateway.hookUrl()));
  // A later request is answered, so the gateway has accepted the first connection.
  expect(await ask(gateway.hookUrl(), { method: "GET", agent })).toMatchObject({ status: 405 });
  await gateway.stop();
  await line.closed;
  agent.destroy();
});
