/** Clients that hold many connections, never finish a request, or never read a response must not block other users. */
import { Writable } from "node:stream";
import { pino } from "pino";
import { Registry } from "prom-client";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { type Dashboard, startDashboard } from "../../dashboard/server/server.ts";
import { cookieHeader } from "../../deploy/cli/demo/visitor.ts";
import { builtPage } from "../../deploy/environment/page.ts";
import { type Line, openLine } from "../gateway/requests.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import type { Visitor } from "../harness/visitor.ts";

const limit = 8;
const apps = `/apis/modoki.tsuzu.dev/v1alpha1/namespaces/${team}/applications`;
const silent = new Writable({ write: (_chunk, _encoding, done) => done() });

let environment: DashboardEnvironment;
let bus: Bus;
let alice: Visitor;
const dashboards: Dashboard[] = [];
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  bus = await connectBus({ url: environment.platform.natsUrlFor("dashboard"), name: "test-dashboard" });
  alice = await environment.visitor(people.alice);
});
afterAll(async () => {
  for (const dashboard of dashboards) await dashboard.stop();
  await bus?.nc.close();
  await environment?.stop();
});

/** Starts another dashboard with the same public URL in this process. Resolves with its listen address. */
async function start(options: Pick<Parameters<typeof startDashboard>[0], "connections" | "times">) {
  const registry = new Registry();
  const { platform } = environment;
  const dashboard = await startDashboard({
    bus,
    busOptions: { replicas: 1, ackWaitMillis: 10_000 },
    cluster: "default",
    functions: [],
    address: "127.0.0.1:0",
    url: undefined,
    kubeconfig: { path: platform.kubeconfigPath },
    issuer: {
      issuer: environment.issuer.url,
      clientId: "test",
      clientSecret: undefined,
      scopes: "openid",
      ca: platform.issuer?.caPath,
    },
    keys: environment.keysPath,
    page: await builtPage(),
    log: pino({ level: "silent" }, silent),
    registry,
    ...options,
  });
  dashboards.push(dashboard);
  const at = dashboard.url;
  const ask = () => alice.ask("/api/session", { at, headers: { host: new URL(at).host } });
  /** Number of requests with a session that were answered. */
  const answered = async (): Promise<number> => {
    const { values = [] } = (await registry.getSingleMetric("denrei_dashboard_requests_total")?.get()) ?? {};
    return values.find(({ labels }) => labels.route === "/api/session" && labels.code === 200)?.value ?? 0;
  };
  return { at, dashboard, ask, answered };
}

/** Opens an event stream, and waits for its first event. */
async function openStream(at: string) {
  const { statusCode, body } = await request(`${at}/api/watch?of=${encodeURIComponent(apps)}`, {
    headers: { cookie: cookieHeader(alice.cookies) },
    bodyTimeout: 0,
  });
  expect(statusCode).toBe(200);
  let text = "";
  body.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  body.on("error", () => undefined);
  await expect.poll(() => text).toContain("event: list");
  return body;
}

test("times out endless headers and bodies, but not a stream", async () => {
  const { at } = await start({ times: { headers: 500, request: 500, look: 50 } });
  const stream = await openStream(at);
  const head = `POST /api/session HTTP/1.1\r\nhost: ${new URL(at).host}\r\n`;
  const beginnings = ["", head, `${head}content-length: 100\r\n\r\n`];
  const cut = beginnings.map(async (beginning) => {
    const { socket, closed } = await openLine(at);
    socket.write(beginning);
    const timer = setInterval(() => socket.write("x-more: of it\r\n".slice(0, beginning.length)), 100);
    return closed.finally(() => clearInterval(timer));
  });
  for (const heard of await Promise.all(cut)) expect(heard).toMatch(/^(HTTP\/1\.1 4\d\d .*)?$/s);
  expect(stream.destroyed).toBe(false);
  stream.destroy();
});

test("serves a logged-in user while a stranger occupies all connections", async () => {
  const { at, dashboard, ask } = await start({ connections: limit });
  const stream = await openStream(at);
  const lines: Line[] = [];
  for (let n = 0; n < limit + 3; n++) {
    const line = await openLine(at);
    line.socket.write(n % 2 === 0 ? "GET /" : `GET / HTTP/1.1\r\nhost: ${new URL(at).host}\r\n\r\n`);
    lines.push(line);
  }
  for (let n = 0; n < 5; n++) expect((await ask()).status).toBe(200);
  expect(stream.destroyed).toBe(false);
  expect(dashboard.notReady()).toBeUndefined();
  stream.destroy();
  for (const { socket } of lines) socket.destroy();
});

test("a user who reads no response blocks no other user", async () => {
  const { at, dashboard, ask, answered } = await start({
    connections: limit,
    times: { headers: 600_000, request: 600_000, unread: 1000 },
  });
  const { host } = new URL(at);
  const bob = await environment.visitor(people.bob);
  const of = (path: string) =>
    `GET ${path} HTTP/1.1\r\nhost: ${host}\r\ncookie: ${cookieHeader(bob.cookies)}\r\n\r\n`;
  const [script] = /\/assets\/[^"]+\.js/.exec((await bob.ask("/", { at, headers: { host } })).text) ?? [];
  expect(script).toBeDefined();
  // These scripts exceed the kernel's buffers for a receiver that does not read.
  const text = of("/api/session") + of(script ?? "").repeat(100);
  const lines: Line[] = [];
  for (let n = 0; n < limit; n++) {
    const line = await openLine(at);
    line.socket.pause().write(text);
    lines.push(line);
  }
  await expect.poll(answered).toBe(limit);
  await expect
    .poll(
      async () =>
        await ask().then(
          ({ status }) => status,
          () => "refused",
        ),
    )
    .toBe(200);
  for (const { socket } of lines) socket.destroy();
  await expect.poll(() => dashboard.notReady(), { timeout: 60_000 }).toBeUndefined();
});
