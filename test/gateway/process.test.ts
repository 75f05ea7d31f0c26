/** `denrei gateway` as a process: startup errors, signals, and a kill during a request. */
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, type TestContext, test, vi } from "vitest";
import { runHere } from "../cli/here.ts";
import { program, run, type StartOptions, start } from "../cli/program.ts";
import { hookSecret } from "../harness/environment.ts";
import type { LocalBus } from "../harness/localbus.ts";
import { example, type Hook, hookOf } from "../harness/webhooks.ts";
import { paused, secretsFolder, startWebhookBus, storedOf } from "./gateways.ts";
import { ask, headOf, type Line, openLine } from "./requests.ts";

const deadline = { timeout: 30_000, interval: 20 };
const buses: LocalBus[] = [];
let local: LocalBus;
let secrets: string;
beforeAll(async () => {
  local = await ownBus();
  secrets = await secretsFolder(local, { "github.app": hookSecret });
});
afterAll(() => Promise.all(buses.map((bus) => bus.stop())));

/** A separate bus for a test that stops its server. */
async function ownBus(): Promise<LocalBus> {
  const bus = await startWebhookBus();
  buses.push(bus);
  return bus;
}

const push = () => hookOf("push", example("push"));
const environment = (bus = local): Record<string, string> => ({
  NATS_URL: bus.natsUrlFor("gateway"),
  DENREI_WEBHOOK_SECRETS: secrets,
  DENREI_WEBHOOK_ADDRESS: "127.0.0.1:0",
  DENREI_LOG_LEVEL: "debug",
});

/** Starts a gateway and waits until it is ready. */
async function startGateway({ onTestFinished }: TestContext, bus: LocalBus, options: StartOptions = {}) {
  const running = start(["gateway"], { env: environment(bus), onTestFinished, ...options });
  const logged = async (msg: string) => {
    const line = await running.lines.until((text) => text.includes(`"msg":"${msg}"`));
    return JSON.parse(line) as Record<string, string>;
  };
  const { probes } = await logged("starting");
  const { url } = await logged("gateway ready");
  const readiness = async () => {
    const answer = await fetch(`${probes}/readyz`);
    return `${answer.status} ${(await answer.text()).trim()}`;
  };
  return { ...running, logged, url: `${url}/github/app`, readiness };
}

/** Sends the headers of a request, and waits for 100 Continue. */
async function begin(url: string, { headers, body }: Hook): Promise<Line> {
  const line = await openLine(url);
  const length = String(Buffer.byteLength(body));
  line.socket.write(headOf(url, { ...headers, "content-length": length, expect: "100-continue" }));
  // The tests run concurrently, and the global `expect.poll` belongs to only one of them.
  await vi.waitFor(() => expect(line.heard()).toMatch(/^HTTP\/1\.1 100 /), deadline);
  return line;
}

describe("reports an invalid configuration before it starts:", () => {
  const nothing = () => secretsFolder(local, {});
  const mistakes: readonly {
    readonly why: string;
    readonly env?: () => Promise<Record<string, string>>;
    readonly args?: readonly string[];
    readonly code: number;
    readonly says: RegExp;
  }[] = [
    {
      why: "the folder does not exist",
      env: async () => ({ DENREI_WEBHOOK_SECRETS: join(await nothing(), "nowhere") }),
      code: 2,
      says: /^denrei: cannot read the folder of webhook secrets .*\/nowhere: it does not exist\.$/,
    },
    {
      why: "neither the folder nor the bus exists",
      env: async () => ({
        DENREI_WEBHOOK_SECRETS: join(await nothing(), "nowhere"),
        NATS_URL: "nats://127.0.0.1:1",
      }),
      code: 2,
      says: /^denrei: cannot read the folder of webhook secrets .*\/nowhere: it does not exist\.$/,
    },
    {
      why: "the folder is empty",
      env: async () => ({ DENREI_WEBHOOK_SECRETS: await nothing() }),
      code: 2,
      says: /^denrei: no webhook secrets in .*: expected one file per webhook, <provider>\.<hook>, with one secret per line, found none\. Write the secret that is set on the hook's page at GitHub into .*\/github\.<hook>: <hook> is the last part of its URL\.$/,
    },
    {
      why: "the name of the only file is not valid for a hook",
      env: async () => ({ DENREI_WEBHOOK_SECRETS: await secretsFolder(local, { "my app": hookSecret }) }),
      code: 2,
      says: /^denrei: no webhook secrets in .*: expected one file per webhook, <provider>\.<hook>, with one secret per line, found only files with other names \(my app\)\./,
    },
    ...["github", "/git hub", "/github/", "/a?b", "/github/ü"].map((path) => ({
      why: `the path is ${path}`,
      args: ["--webhook-path", path],
      code: 2,
      says: /^denrei: --webhook-path: expected a path such as \/hooks, found ".*"$/,
    })),
    ...["8080", "localhost", "127.0.0.1:65536", "host:name"].map((address) => ({
      why: `the address is ${address}`,
      args: ["--webhook-address", address],
      code: 2,
      says: /^denrei: --webhook-address: expected host:port or :port, with a port from 0 to 65535, found ".*"$/,
    })),
  ];
  test.for(mistakes)("$why", async ({ env, args = [], code, says }) => {
    const ended = await runHere(["gateway", ...args], { env: { ...environment(), ...(await env?.()) } });
    expect(ended.stderr.trim()).toMatch(says);
    expect(ended.code).toBe(code);
    expect(ended.stdout + ended.stderr).not.toContain(hookSecret);
  });
});

describe.concurrent("exits with an error when", () => {
  test("no folder is configured", async ({ expect }) => {
    const env = { ...environment(), DENREI_WEBHOOK_SECRETS: "" };
    const { code, stdout, stderr } = await run(["gateway"], { env });
    expect(stderr.trim()).toBe(
      "denrei: --webhook-secrets or DENREI_WEBHOOK_SECRETS: expected a folder with a file of secrets for each webhook, found none",
    );
    expect(code).toBe(2);
    expect(stdout).toBe("");
  });

  test("the address is in use", async ({ expect, onTestFinished }) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const address = `127.0.0.1:${port}`;
    const { code, stderr } = await run(["gateway", "--webhook-address", address], { env: environment() });
    expect(stderr.trim()).toBe(
      `denrei: expected to serve webhooks on ${address}, but listen EADDRINUSE: address already in use ${address}. Set --webhook-address to a free one (port 0 takes any).`,
    );
    expect(code).toBe(1);
  });
});

describe.concurrent("a running gateway", () => {
  test("finishes requests in flight on SIGTERM, refuses new ones, and exits with 0", async (context) => {
    const { expect } = context;
    const bus = await ownBus();
    const gateway = await startGateway(context, bus);
    const hooks = [push(), push(), push(), push(), push()];
    let lines: Line[] = [];
    await paused(bus, async () => {
      lines = await Promise.all(hooks.map((hook) => begin(gateway.url, hook)));
      for (const [at, { socket }] of lines.entries()) socket.write(hooks[at]?.body ?? "");
      gateway.process.kill("SIGTERM");
      await gateway.logged("stopping");
      const another = () => ask(gateway.url, push()).then(() => "answered", String);
      await expect.poll(another, deadline).toContain("ECONNREFUSED");
      for (const { heard } of lines) expect(heard()).not.toContain("HTTP/1.1 2");
    });
    for (const { closed } of lines)
      expect(await closed).toMatch(/\r\n\r\nHTTP\/1\.1 202 .*connection: close\r\n.*\r\n\r\nstored\n$/is);
    const { code, signal, stderr } = await gateway.ended;
    expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
    await gateway.logged("stopped");
    for (const { delivery } of hooks) expect(await storedOf(bus, delivery)).toHaveLength(1);
  });

  test("answers nothing when it is killed, and a retry through another gateway is stored once", async (context) => {
    const { expect } = context;
    const bus = await ownBus();
    const [one, two] = [await startGateway(context, bus), await startGateway(context, bus)];
    const hook = push();
    await paused(bus, async () => {
      const { socket, closed } = await begin(one.url, hook);
      socket.write(hook.body);
      one.process.kill("SIGKILL");
      expect(await closed).not.toContain("HTTP/1.1 2");
    });
    expect(await ask(two.url, hook)).toMatchObject({ status: 202 });
    expect(await ask(two.url, hook)).toMatchObject({ status: 202, text: "duplicate" });
    expect(await storedOf(bus, hook.delivery)).toHaveLength(1);
  });

  test("reports a lost bus in /readyz, and recovers when the bus is back", async (context) => {
    const { expect } = context;
    const bus = await ownBus();
    const gateway = await startGateway(context, bus);
    const hook = push();
    expect(await gateway.readiness()).toBe("200 ok");
    await bus.nats.stop("SIGKILL");
    await expect.poll(gateway.readiness, deadline).toMatch(/^503 the bus is not reachable/);
    const answer = await ask(gateway.url, hook);
    expect(answer).toMatchObject({ status: 503, text: "not stored: send it again" });
    expect(answer.headers["retry-after"]).toBe("5");
    await bus.nats.start();
    await gateway.logged("connected to the bus again");
    expect(await ask(gateway.url, hook)).toMatchObject({ status: 202 });
    await expect.poll(gateway.readiness, deadline).toBe("200 ok");
    gateway.process.kill("SIGTERM");
    expect(await gateway.ended).toMatchObject({ code: 0, stderr: "" });
    expect(gateway.lines.all.join("\n")).not.toContain(hookSecret);
  });

  test("accepts webhooks when clients open more connections than its limit of open files", async (context) => {
    const { expect } = context;
    const few = ["/bin/sh", "-c", 'ulimit -n 100; exec "$0" "$@"', process.execPath, program] as const;
    const gateway = await startGateway(context, local, { command: few });
    const lines = await Promise.all(Array.from({ length: 200 }, () => openLine(gateway.url)));
    expect(await ask(gateway.url, push())).toMatchObject({ status: 202 });
    expect(gateway.lines.all.join("\n")).not.toContain("EMFILE");
    for (const { socket } of lines) socket.destroy();
  });
});
