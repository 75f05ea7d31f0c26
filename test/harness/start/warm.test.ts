/** Replicas in processes that ran other replicas before. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalNats, startLocalNats } from "../../../deploy/local/index.ts";
import { type GatewayReplica, startGateway } from "../environment.ts";
import { programs } from "../programs.ts";

await programs("nats-server");

let local: LocalNats;
beforeAll(async () => {
  local = await startLocalNats();
});
afterAll(() => local?.stop());

let started = 0;
/** In processes that no other test file uses. */
const start = (env: Readonly<Record<string, string>> = {}): Promise<GatewayReplica> =>
  startGateway(local, `gateway-${++started}`, { env: { CONTROLLER_NAMESPACE: "warm-test", ...env } });

test("a stopped replica leaves its process to the next one, and nothing else", async () => {
  const first = await start({ DENREI_LOG_LEVEL: "trace", DENREI_WEBHOOK_PATH: "/first" });
  const { pid } = first;
  expect(new URL(first.hookUrl()).pathname).toBe("/first/github/app");
  const { probes } = first.log.records().find(({ msg }) => msg === "starting") ?? {};
  const exited = first.exited();
  await first.stop();
  expect(await exited).toEqual({ code: 0, signal: null });
  expect(first.pid).toBeUndefined();
  await expect(fetch(`${probes}/readyz`)).rejects.toThrow();
  const lines = [...first.log.all];

  const second = await start();
  expect(second.pid).toBe(pid);
  expect(new URL(second.hookUrl()).pathname).toBe("/github/app");
  expect(second.log.records().map(({ replica }) => replica)).not.toContain("gateway-1");
  expect(first.log.all).toEqual(lines);
  await second.stop("SIGINT");
});

test("a killed replica starts again in another process", async () => {
  const gateway = await start();
  const { pid } = gateway;
  const exited = gateway.exited();
  await gateway.kill();
  expect(await exited).toEqual({ code: null, signal: "SIGKILL" });
  expect(() => process.kill(pid ?? 0, 0)).toThrow("ESRCH");
  await gateway.start();
  expect(gateway.pid).not.toBe(pid);
  expect(await gateway.probe("/readyz")).toEqual({ status: 200, text: "ok" });
});

test("a replica that cannot start reports why", async () => {
  await expect(start({ DENREI_WEBHOOK_PATH: "no path" })).rejects.toThrow(
    "it exited with code 2. Its last lines:\n  denrei: DENREI_WEBHOOK_PATH: expected a path such as /hooks",
  );
});

test("replicas with different settings that modules read once do not share a process", async () => {
  const here = await start({ CONTROLLER_NAMESPACE: "here" });
  const { pid } = here;
  await here.stop();
  const there = await start({ CONTROLLER_NAMESPACE: "there" });
  expect(there.pid).not.toBe(pid);
  expect((await start({ CONTROLLER_NAMESPACE: "here" })).pid).toBe(pid);
});
