/** Namespaces that opt in and out: the bus has the metadata of their Secrets, and of no others. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { parse, stringify } from "yaml";
import { parsePosition, positionKey } from "../../bus/bridge/position.ts";
import { kindText, Secret } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { type Gate, startGate } from "../fixtures/proxy.ts";
import { type Bridged, type BridgeReplica, startBridged } from "../harness/bridged.ts";
import type { ObjectMessage } from "../harness/history.ts";
import { createNamespace, optIn, optOut } from "../harness/namespaces.ts";

const hidden = "hunter2-hunter2";
const manager = { fieldManager: "test" };
const polling = { timeout: 60_000, interval: 50 };
let bridged: Bridged;
let gate: Gate;
let lives = 0;

beforeAll(async () => {
  bridged = await startBridged();
  gate = await startGate(bridged.environment.client.connection);
});
afterAll(async () => {
  await gate?.close();
  await bridged?.stop();
});

const startBridge = (env: Readonly<Record<string, string>> = {}): Promise<BridgeReplica> =>
  bridged.bridge(`bridge-${++lives}`, { env });

/** A bridge for one test whose API server calls pass the gate. */
async function bridgeViaGate(env: Readonly<Record<string, string>> = {}): Promise<BridgeReplica> {
  const { kubeconfigPath, directory } = bridged.environment.platform;
  const kubeconfig = parse(await readFile(kubeconfigPath, "utf8"));
  kubeconfig.clusters[0].cluster = { server: gate.url, "insecure-skip-tls-verify": true };
  const path = join(directory, "gate.kubeconfig");
  await writeFile(path, stringify(kubeconfig), { mode: 0o600 });
  const bridge = await startBridge({ KUBECONFIG: path, ...env });
  onTestFinished(async () => {
    gate.answer(() => undefined);
    await bridge.stop();
  });
  return bridge;
}

async function createNamespaces(...names: string[]): Promise<void> {
  for (const name of names) await createNamespace(bridged.environment.client, name);
}
const createSecret = (namespace: string, name: string) =>
  bridged.environment.client.create(
    Secret,
    {
      ...{ apiVersion: "v1", kind: "Secret", metadata: { namespace, name } },
      data: { password: btoa(hidden) },
    } as unknown as KubeObject,
    manager,
  );
const changeSecret = (namespace: string, name: string, value: string) =>
  bridged.environment.client.mergePatch(Secret, { namespace, name }, { stringData: { value } }, manager);

/** The events about the Secrets of a namespace. */
const eventsOf = (namespace: string): ObjectMessage[] =>
  bridged.history.of(Secret).filter(({ at }) => at.namespace === namespace);
const changesIn = (namespace: string): string[] =>
  eventsOf(namespace)
    .map(({ change, at }) => `${change} ${at.name}`)
    .sort();
const untilPublished = (namespace: string, changes: readonly string[]): Promise<void> =>
  bridged.history
    .until(() => changesIn(namespace).length >= changes.length)
    .then(() => {
      expect(changesIn(namespace)).toEqual([...changes].sort());
    });

/** The position of the watch of a namespace's Secrets. */
const position = async (namespace: string) =>
  parsePosition((await bridged.kv.get(positionKey("default", Secret, namespace)))?.string() ?? "");

/** Waits until the saved position, where the next bridge resumes, covers all events so far. */
const untilSaved = (namespace: string): Promise<void> =>
  expect
    .poll(async () => {
      const { state, resourceVersion = "0" } = (await position(namespace)) ?? {};
      const last = eventsOf(namespace).at(-1)?.resourceVersion ?? "0";
      return state === "watching" && Number(resourceVersion) >= Number(last);
    }, polling)
    .toBe(true);

/** The bridge's latest status of a namespace's Secrets. */
const saidOf = (bridge: BridgeReplica, message: string, namespace: string) =>
  bridge.logged(message).findLast(({ kind }) => kind === `${kindText(Secret)} in ${namespace}`);

/** The position at which the bridge last started leading a namespace's Secrets: `none` if it had to list them. */
const leadingAt = (bridge: BridgeReplica, namespace: string) =>
  saidOf(bridge, "leading", namespace)?.resourceVersion;

test("adding the label publishes the metadata of that namespace's Secrets, and no others", async () => {
  await createNamespaces("comes", "never");
  await createSecret("comes", "before");
  await createSecret("never", "before");
  const bridge = await startBridge();
  onTestFinished(() => bridge.stop());
  await createSecret("default", "in-default");
  await untilPublished("default", ["added in-default"]);
  expect(changesIn("comes")).toEqual([]);

  await optIn(bridged.environment.client, "comes");
  await untilPublished("comes", ["added before"]);
  await createSecret("comes", "after");
  await changeSecret("comes", "before", "new");
  await createSecret("never", "after");
  await untilPublished("comes", ["added before", "added after", "modified before"]);
  for (const { object, raw } of eventsOf("comes")) {
    expect(Object.keys(object).sort()).toEqual(["apiVersion", "kind", "metadata"]);
    expect(object).toMatchObject({ apiVersion: "v1", kind: "Secret" });
    expect(raw).not.toContain(btoa(hidden));
  }
  // This event comes after any that should not have been published.
  await changeSecret("default", "in-default", "new");
  await untilPublished("default", ["added in-default", "modified in-default"]);
  expect(changesIn("never")).toEqual([]);
});

test("removing the label stops publishing; adding it again catches up", async () => {
  await createNamespaces("goes");
  await optIn(bridged.environment.client, "goes");
  const bridge = await startBridge();
  onTestFinished(() => bridge.stop());
  for (const name of ["kept", "deleted"]) await createSecret("goes", name);
  const first = ["added deleted", "added kept"];
  await untilPublished("goes", first);
  await untilSaved("goes");

  await optOut(bridged.environment.client, "goes");
  // It also stands by while it has lost its lease for a moment.
  const left = () => bridge.logged("opted-in namespaces changed").flatMap((record) => record.left);
  await bridge.log.until(() => left().includes("goes"));
  await changeSecret("goes", "kept", "new");
  await createSecret("goes", "made");
  await bridged.environment.client.delete(Secret, { namespace: "goes", name: "deleted" }, {});
  await createSecret("default", "while-gone");
  await bridged.history.until(() => changesIn("default").includes("added while-gone"));
  // Published events remain on the bus.
  expect(changesIn("goes")).toEqual(first);
  expect((await bridge.probe("/readyz")).status).toBe(200);

  await optIn(bridged.environment.client, "goes");
  await untilPublished("goes", [...first, "modified kept", "added made", "deleted deleted"]);
  expect(leadingAt(bridge, "goes"), "it resumes at its position").toMatch(/^\d+$/);
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "after %s the next bridge resumes in each namespace at its position",
  async (signal) => {
    const spaces = ["a", "b"].map((tag) => `resumes-${tag}-${signal.toLowerCase()}`);
    await createNamespaces(...spaces);
    for (const namespace of spaces) await optIn(bridged.environment.client, namespace);
    const bridge = await startBridge();
    onTestFinished(() => bridge.stop());
    for (const namespace of spaces) await createSecret(namespace, "kept");
    for (const namespace of spaces) await untilPublished(namespace, ["added kept"]);
    for (const namespace of spaces) await untilSaved(namespace);
    await bridge.stop(signal);
    for (const namespace of spaces) await changeSecret(namespace, "kept", "new");
    const next = await startBridge();
    onTestFinished(() => next.stop());
    for (const namespace of spaces) await untilPublished(namespace, ["added kept", "modified kept"]);
    for (const namespace of spaces) {
      expect(leadingAt(next, namespace)).toMatch(/^\d+$/);
    }
  },
);

test("requests only the metadata of Secrets, and only in opted-in namespaces", async () => {
  await createNamespaces("asked");
  await optIn(bridged.environment.client, "asked");
  const asked: { url: string; accept: string | undefined }[] = [];
  gate.answer(({ url = "", headers }) => {
    if (/\/(secrets|configmaps)\b/.test(url)) asked.push({ url, accept: headers.accept });
    return undefined;
  });
  const bridge = await bridgeViaGate({ DENREI_WATCH_SECONDS: "1" });
  await createSecret("asked", "made");
  await untilPublished("asked", ["added made"]);
  // Watches end and reopen, and a new bridge probes the API server's current position.
  const watches = () => asked.filter(({ url }) => url.includes("watch=1"));
  await expect.poll(() => watches().length, polling).toBeGreaterThan(9);
  await bridge.stop();
  await bridge.start();
  await changeSecret("asked", "made", "new");
  await untilPublished("asked", ["added made", "modified made"]);
  const form = (url: string) =>
    `application/json;as=PartialObjectMetadata${url.includes("watch=1") ? "" : "List"};g=meta.k8s.io;v=v1`;
  for (const { url, accept } of asked) expect([url, accept]).toEqual([url, form(url)]);
  expect(asked.filter(({ url }) => url.startsWith("/api/v1/secrets"))).toEqual([]);
  expect(asked.some(({ url }) => url.startsWith("/api/v1/namespaces/asked/secrets?limit=1"))).toBe(true);
});

test("keeps the known opted-in namespaces while they cannot be listed, and logs the error once", async () => {
  await createNamespaces("known", "unknown");
  await optIn(bridged.environment.client, "known");
  const bridge = await bridgeViaGate();
  await createSecret("known", "made");
  await untilPublished("known", ["added made"]);
  const refusal = { kind: "Status", reason: "Forbidden", message: "not today", code: 403 };
  const asked: number[] = [];
  gate.answer(({ url = "" }) => {
    if (!url.startsWith("/api/v1/namespaces?")) return undefined;
    asked.push(performance.now());
    return { status: 403, body: JSON.stringify(refusal) };
  });
  await optIn(bridged.environment.client, "unknown");
  await createSecret("unknown", "made");
  await expect
    .poll(() => bridge.probe("/readyz"), polling)
    .toEqual({
      status: 503,
      text: expect.stringMatching(
        /^Namespace with the label denrei.dev\/secrets is not watched: GET \/api\/v1\/namespaces .*not today/,
      ),
    });
  await expect.poll(() => asked.length, polling).toBeGreaterThan(1);
  const pauses = asked.slice(1).map((time, at) => time - (asked[at] ?? 0));
  expect(Math.min(...pauses), "it does not retry rapidly").toBeGreaterThan(3000);
  await changeSecret("known", "made", "new");
  await untilPublished("known", ["added made", "modified made"]);
  expect(changesIn("unknown")).toEqual([]);
  const lines = bridge.logged("failed to list namespaces, keeping the known ones");
  expect(lines.filter(({ level }) => level === "warn")).toMatchObject([
    { known: expect.arrayContaining(["default", "known"]) },
  ]);

  gate.answer(() => undefined);
  await untilPublished("unknown", ["added made"]);
  await expect.poll(() => bridge.probe("/readyz"), polling).toMatchObject({ status: 200 });
});

test("namespaces named in the settings are the opted-in ones, and labels are not read", async () => {
  await createNamespaces("named", "labelled");
  await optIn(bridged.environment.client, "labelled");
  for (const namespace of ["named", "labelled"]) await createSecret(namespace, "made");
  const asked: string[] = [];
  gate.answer(({ url = "" }) => {
    asked.push(url);
    return undefined;
  });
  await bridgeViaGate({ DENREI_NAMESPACES: "default,named" });
  await untilPublished("named", ["added made"]);
  await createSecret("labelled", "later");
  await createSecret("default", "named-later");
  await bridged.history.until(() => changesIn("default").includes("added named-later"));
  expect(changesIn("labelled")).toEqual([]);
  const paths = asked.filter((url) => /\/secrets\b/.test(url)).map((url) => url.split("/secrets")[0]);
  expect(new Set(paths)).toEqual(
    new Set(["default", "named"].map((namespace) => `/api/v1/namespaces/${namespace}`)),
  );
  expect(asked.filter((url) => url.startsWith("/api/v1/namespaces?"))).toEqual([]);
});
