/** The bridge's connection to its API server: half-open, reset, throttled, or closed right after opening. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { parse, stringify } from "yaml";
import { ConfigMap, type Kind, Secret } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { type Answer, type Gate, startGate, startProxy, type TcpProxy } from "../fixtures/proxy.ts";
import { type Bridged, type BridgeReplica, startBridged, startChurn } from "../harness/bridged.ts";

const kinds: Kind[] = [Note, Secret, ConfigMap];
let bridged: Bridged;
let proxy: TcpProxy;
let gate: Gate;

beforeAll(async () => {
  bridged = await startBridged();
  proxy = await startProxy(Number(new URL(bridged.environment.client.connection.server).port));
  gate = await startGate(bridged.environment.client.connection);
  await Promise.all(Array.from({ length: 10 }, (_, i) => bridged.create(`note-${i}`)));
});
afterAll(async () => {
  await gate?.close();
  await proxy?.close();
  await bridged?.stop();
});

/** Starts a bridge for one test that reaches the API server at another address. */
async function bridgeVia(server: string): Promise<BridgeReplica> {
  const { kubeconfigPath, directory } = bridged.environment.platform;
  const kubeconfig = parse(await readFile(kubeconfigPath, "utf8"));
  if (server.startsWith("https:")) kubeconfig.clusters[0].cluster.server = server;
  else kubeconfig.clusters[0].cluster = { server, "insecure-skip-tls-verify": true };
  const path = join(directory, `${new URL(server).port}.kubeconfig`);
  await writeFile(path, stringify(kubeconfig), { mode: 0o600 });
  const bridge = await bridged.bridge(`bridge-${new URL(server).port}`, {
    env: { KUBECONFIG: path, DENREI_WATCH_SECONDS: "2" },
  });
  onTestFinished(() => bridge.stop());
  for (const kind of kinds) await bridged.untilSettled(kind);
  return bridge;
}
const viaProxy = () => bridgeVia(`https://127.0.0.1:${proxy.port}`);
const viaGate = async () => {
  onTestFinished(() => gate.answer(() => undefined));
  return bridgeVia(gate.url);
};

/** Creates a note and a Secret, changes a note, and deletes one. The Secret's watch shares its connection with others. */
async function makeChanges(tag: string): Promise<void> {
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { namespace: "default", name: tag } };
  await bridged.environment.client.create(Secret, secret as KubeObject, { fieldManager: "test" });
  await bridged.create(`made-${tag}`);
  await bridged.change("note-0");
  await bridged.remove(`made-${tag}`);
}

test("replaces connections that go silent, and delivers the changes they held back", async () => {
  const bridge = await viaProxy();
  const before = await bridge.counts(Note);
  expect(proxy.freeze()).toBeGreaterThanOrEqual(kinds.length);
  await makeChanges("frozen");
  for (const kind of [Note, Secret]) await bridged.untilSettled(kind);
  expect(await bridge.counts(Note)).toEqual({
    lists: before.lists,
    added: before.added + 1,
    modified: before.modified + 1,
    deleted: before.deleted + 1,
  });
  const isDead = (record: Record<string, unknown>) =>
    String((record.err as Error).message).includes("the connection is dead");
  expect(bridge.logged("watch failed, retrying", Note).some(isDead)).toBe(true);

  // Again, and this time new connections are dead for a while, too.
  const { thaw } = proxy.freezeAll();
  onTestFinished(thaw);
  await makeChanges("dark");
  await bridge.log.until(() => bridge.logged("watch failed, retrying", Note).filter(isDead).length > 1);
  expect(bridged.history.of(Note, "made-dark")).toEqual([]);
  thaw();
  for (const kind of kinds) await bridged.untilSettled(kind);
  expect(await bridge.counts(Note)).toMatchObject({ lists: before.lists });
  expect(bridged.history.of(Note, "made-dark").map(({ change }) => change)).toEqual(["added", "deleted"]);
});

test("loses and lists nothing when connections are reset repeatedly while objects change", async () => {
  const bridge = await viaProxy();
  const before = await bridge.counts(Note);
  const churn = startChurn(
    bridged,
    Array.from({ length: 10 }, (_, i) => `reset-${i}`),
  );
  let resets = 0;
  while (resets < 30) {
    await churn.more(10);
    resets += proxy.reset();
  }
  await churn.stop();
  for (const kind of kinds) await bridged.untilSettled(kind);
  expect(bridge.logged("watch failed, retrying").length).toBeGreaterThan(3);
  expect(await bridge.counts(Note)).toMatchObject({ lists: before.lists });
  expect(bridged.history.disorder()).toEqual([]);
});

const tooMany: Answer = {
  status: 429,
  headers: { "retry-after": "1" },
  body: JSON.stringify({ kind: "Status", message: "Too many requests, please try again later.", code: 429 }),
};
const gone = JSON.stringify({
  type: "ERROR",
  object: { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" },
});

test("waits as long as a 429 response asks, then resumes at its position", async () => {
  const bridge = await viaGate();
  const before = await bridge.counts(Note);
  const times: number[] = [];
  gate.answer(({ url }) => {
    // The list of namespaces has its own interval.
    if (!url?.startsWith("/api/v1/namespaces?")) times.push(performance.now());
    return tooMany;
  });
  await expect.poll(() => times.length, { timeout: 60_000 }).toBeGreaterThan(9);
  await makeChanges("throttled");
  const seconds = (performance.now() - (times[0] ?? 0)) / 1000;
  expect(times.length).toBeLessThanOrEqual(kinds.length * (2 + seconds));
  gate.answer(() => undefined);
  await bridged.untilSettled(Note);
  expect(await bridge.counts(Note)).toMatchObject({ lists: before.lists, added: before.added + 1 });
});

test("watches closed right after opening cause no hot loop", async () => {
  const bridge = await viaGate();
  const before = await bridge.counts(Note);
  const times: number[] = [];
  gate.answer(({ url }) => {
    if (!url?.includes("watch=1")) return undefined;
    times.push(performance.now());
    return { status: 200, body: "" };
  });
  await expect.poll(() => times.length, { timeout: 60_000 }).toBeGreaterThan(9);
  await makeChanges("ended");
  const seconds = (performance.now() - (times[0] ?? 0)) / 1000;
  expect(times.length).toBeLessThan(kinds.length * (6 + seconds));
  gate.answer(() => undefined);
  await bridged.untilSettled(Note);
  expect(await bridge.counts(Note)).toMatchObject({ lists: before.lists, added: before.added + 1 });
});

test("a position that expires during a watch causes exactly one list, at once", async () => {
  const bridge = await viaGate();
  const before = await bridge.counts(Note);
  let isListed = false;
  let watches = 0;
  gate.answer(({ url = "" }) => {
    if (!url.includes("/notes?")) return undefined;
    // A list with limit=1 only probes the API server's current position.
    isListed ||= !url.includes("watch=1") && !/[?&]limit=1(&|$)/.test(url);
    if (!url.includes("watch=1")) return undefined;
    if (isListed) watches++;
    return isListed ? undefined : { status: 200, body: `${gone}\n` };
  });
  await expect.poll(() => watches, { timeout: 60_000 }).toBeGreaterThan(0);
  await makeChanges("expired");
  await bridged.untilSettled(Note);
  expect(await bridge.counts(Note)).toMatchObject({ lists: before.lists + 1, added: before.added + 1 });
});
