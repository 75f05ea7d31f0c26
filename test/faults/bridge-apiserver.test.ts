/** The bridge against an API server that restarts, denies access, compacts its history, or is restored, and CRDs that come and go. */
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { positionKey } from "../../bus/bridge/position.ts";
import { metadataOnly, resourcePath } from "../../bus/kube/client.ts";
import { crdOf } from "../../bus/kube/crd.ts";
import type { ApiError } from "../../bus/kube/errors.ts";
import { CustomResourceDefinition, installCrds } from "../../bus/kube/install.ts";
import { ConfigMap, type Kind, kindText, Namespace, Secret } from "../../bus/kube/kind.ts";
import { Letter } from "../fixtures/functions/letters.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import { type BridgeReplica, type OwnBridged, startChurn, startOwnBridged } from "../harness/bridged.ts";

const user = "bridge";
const manager = { fieldManager: "test" };
const at = (name: string) => ({ namespace: "default", name });
const kinds: Kind[] = [Note, Secret, ConfigMap];
let bridged: OwnBridged;
let bridge: BridgeReplica;
let kubeconfig: string;
let lives = 0;

const startBridge = () =>
  bridged.bridge(`bridge-${++lives}`, { env: { KUBECONFIG: kubeconfig, DENREI_WATCH_SECONDS: "2" } });

beforeAll(async () => {
  // The test needs a control plane without the kinds that the shared one has.
  bridged = await startOwnBridged();
  // An administrator is never denied access, so the bridge runs as a restricted user.
  kubeconfig = await bridged.environment.platform.kubeconfigFor(user);
  await post("/apis/rbac.authorization.k8s.io/v1/clusterroles", {
    metadata: { name: user },
    rules: [...kinds, Namespace].map(({ group, plural }) => ({
      apiGroups: [group],
      resources: [plural],
      verbs: ["list", "watch"],
    })),
  });
  await allow();
  bridge = await startBridge();
  await Promise.all(Array.from({ length: 10 }, (_, i) => bridged.create(`note-${i}`)));
  await bridged.untilAgreed(Note);
});
afterAll(() => bridged?.stop());
beforeEach(async () => {
  if (bridge.pid === undefined) bridge = await startBridge();
});

const post = (path: string, body: object) =>
  bridged.environment.client.request({ method: "POST", path, body });
const bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const allow = () =>
  post(bindings, {
    metadata: { name: user },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: user },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
  });
const forbid = () => bridged.environment.client.request({ method: "DELETE", path: `${bindings}/${user}` });

/** The HTTP status of a watch from this position, once the API server no longer answers 429. */
async function statusOfWatch(kind: Kind, resourceVersion: string, accept?: string): Promise<number> {
  const query = { resourceVersion, timeoutSeconds: 1 };
  const request = { path: resourcePath(kind), query, ...(accept && { accept }) };
  for (;;) {
    try {
      for await (const _ of await bridged.environment.client.watch(request)) break;
      return 200;
    } catch (error) {
      const { status } = error as ApiError;
      // Right after its start the API server reports that its storage is not ready.
      if (status !== 429) return status;
      await sleep(50);
    }
  }
}

test("a CRD installed late causes no hot loop, no restart, and no delay for other kinds", async () => {
  const env = { DENREI_CLUSTER: "late" };
  const path = fileURLToPath(new URL("../fixtures/functions/letters.ts", import.meta.url));
  const begun = performance.now();
  const late = await bridged.bridge("late", { args: [path], env });
  onTestFinished(() => late.stop());
  const unknown = () => late.metric("rest_client_requests_total", { code: "404" });
  const state = async () =>
    (await bridged.kv.get(positionKey("late", Letter)))?.json<{ state: string }>().state;
  const ofLate = (kind: Kind, name: string) =>
    bridged.history.of(kind, name).filter(({ at }) => at.cluster === "late");
  await expect.poll(state, { timeout: 60_000 }).toBe("absent");
  const meanwhile = { apiVersion: "v1", kind: "ConfigMap", metadata: at("meanwhile") };
  await bridged.environment.client.create(ConfigMap, meanwhile, manager);
  await bridged.history.until(() => ofLate(ConfigMap, "meanwhile").length === 1);
  await expect.poll(unknown, { timeout: 60_000 }).toBeGreaterThan(4);
  const seconds = (performance.now() - begun) / 1000;
  expect(await unknown()).toBeLessThan(8 + seconds / 2);
  expect(late.logged("the API server does not know this kind, retrying: is its CRD installed?")).toHaveLength(
    1,
  );

  const { client } = bridged.environment;
  const letter = (name: string): Letter => ({
    apiVersion: "late.denrei.dev/v1",
    kind: "Letter",
    metadata: at(name),
    spec: { text: "late" },
  });
  const install = () =>
    installCrds(client, [crdOf(Letter)], { ...manager, signal: AbortSignal.timeout(60_000) });
  await install();
  for (const name of ["stays", "goes"]) await client.create(Letter, letter(name), manager);
  await bridged.history.until(
    () => ofLate(Letter, "stays").length === 1 && ofLate(Letter, "goes").length === 1,
  );
  await client.delete(Letter, at("goes"), {});
  await bridged.history.until(() => ofLate(Letter, "goes").at(-1)?.change === "deleted");
  await expect.poll(state, { timeout: 60_000 }).toBe("watching");

  // Delete the CRD with its objects, then install it again.
  await client.delete(CustomResourceDefinition, { name: `${Letter.plural}.${Letter.group}` }, {});
  await bridged.history.until(() => ofLate(Letter, "stays").at(-1)?.change === "deleted");
  await install();
  await client.create(Letter, letter("again"), manager);
  await bridged.history.until(() => ofLate(Letter, "again").length === 1);
  expect(late.logged("listed").filter(({ kind }) => kind === kindText(ConfigMap))).toHaveLength(1);
  expect(bridged.history.disorder(bridged.history.of(Letter))).toEqual([]);
});

test("a CRD created while its predecessor is being deleted is installed after the deletion", async () => {
  const { client } = bridged.environment;
  const definition = { name: `${Probe.plural}.${Probe.group}` };
  const install = (labels: object, deletionMillis?: number) => {
    const crd = { ...crdOf(Probe), metadata: { ...definition, labels } };
    const signal = AbortSignal.timeout(90_000);
    return installCrds(client, [crd], { ...manager, signal, ...(deletionMillis && { deletionMillis }) });
  };
  const found = () => client.get(CustomResourceDefinition, definition);
  await install({});
  const before = await found();
  const metadata = { ...at("kept"), finalizers: ["test.denrei.dev/kept"] };
  const probe: Probe = {
    apiVersion: "test.denrei.dev/v1",
    kind: "Probe",
    metadata,
    spec: { mode: "ok" },
  };
  await client.create(Probe, probe, manager);
  await client.delete(CustomResourceDefinition, definition, {});

  await expect(install({}, 200)).rejects.toThrow(`the CRD ${definition.name} is still being deleted`);

  const installed = install({ again: "yes" });
  await expect
    .poll(async () => (await found()).metadata.labels, { timeout: 60_000 })
    .toEqual({ again: "yes" });
  expect((await found()).metadata).toMatchObject({ uid: before.metadata.uid });
  await client.mergePatch(Probe, at("kept"), { metadata: { finalizers: null } }, manager);
  await installed;
  const after = await found();
  expect(after.metadata).toMatchObject({ labels: { again: "yes" } });
  expect(after.metadata.uid).not.toBe(before.metadata.uid);
  expect((await client.list(Probe)).items).toEqual([]);
});

test("a CRD with fields of a newer version stays unchanged unless losing them is allowed", async () => {
  const { client } = bridged.environment;
  const install = (crd: object, options: { lostFields?: "drop" } = {}) =>
    installCrds(client, [{ ...crd }], { ...manager, ...options, signal: AbortSignal.timeout(60_000) });
  const newer = JSON.parse(
    JSON.stringify(crdOf(Probe)).replace('"mode":', '"verses":{"type":"string"},"mode":'),
  );
  await install(newer);
  await expect(install(crdOf(Probe))).rejects.toThrow(
    "has more than this version knows: v1 .spec.verses: a newer version",
  );
  await install(newer);

  const spec = async () => {
    const definition = { name: `${Probe.plural}.${Probe.group}` };
    return JSON.stringify((await client.get(CustomResourceDefinition, definition)).spec);
  };
  expect(await spec()).toContain('"verses"');
  await install(crdOf(Probe), { lostFields: "drop" });
  expect(await spec()).not.toContain('"verses"');
});

test("without the right to watch, the bridge is unready, retries rarely, and names the right; then it resumes", async () => {
  await bridged.create("gone-meanwhile");
  await bridged.untilSettled(Note);
  const before = await bridge.counts(Note);
  const refused = () => bridge.metric("rest_client_requests_total", { code: "403" });
  const begun = performance.now();
  await forbid();
  await expect
    .poll(() => bridge.probe("/readyz"), { timeout: 60_000, interval: 100 })
    .toEqual({ status: 503, text: expect.stringMatching(/is not watched: GET .* 403 .*denrei rbac/) });
  const broken = bridge.log.records().find((record) => JSON.stringify(record).includes(" 403 "));
  const waited = Date.now() - Date.parse(String(broken?.time));
  expect(waited, "a watch that breaks for a moment must not make the bridge unready").toBeGreaterThan(4000);
  // Every kind's watch ends after two seconds, and the next one is denied.
  await expect.poll(refused, { timeout: 60_000 }).toBeGreaterThan(9);
  await bridged.create("made-meanwhile");
  await bridged.change("note-0");
  await bridged.remove("gone-meanwhile");
  const seconds = (performance.now() - begun) / 1000;
  // Per kind five attempts in the first seconds, then one every 2.5 s or more.
  expect(await refused()).toBeLessThan(3 * (6 + seconds / 2.5));
  expect(bridged.history.of(Note, "made-meanwhile")).toEqual([]);
  await allow();
  await expect
    .poll(() => bridge.probe("/readyz"), { timeout: 60_000, interval: 100 })
    .toEqual({ status: 200, text: "ok" });
  await bridged.untilSettled(Note);
  expect(await bridge.counts(Note)).toEqual({
    lists: before.lists,
    added: before.added + 1,
    modified: before.modified + 1,
    deleted: before.deleted + 1,
  });
  expect(bridge.log.all.filter((line) => line.includes("denrei rbac")).length).toBeGreaterThan(0);
});

test("after an outage longer than the API server's history, vanished objects are published as deleted", async () => {
  for (const name of ["vanishes", "vanishes-too", "is-replaced"]) await bridged.create(name);
  const saved = await bridged.untilSettled(Note);
  await bridge.kill();
  const before = bridged.history.all.length;
  await bridged.create("appears");
  await bridged.create("never-seen");
  await bridged.remove("never-seen");
  await bridged.change("note-2");
  await bridged.change("note-3");
  await bridged.change("vanishes");
  await bridged.remove("vanishes");
  await bridged.remove("vanishes-too");
  await bridged.remove("is-replaced");
  const replacement = await bridged.create("is-replaced");
  const { apiserver } = bridged.environment.platform;
  await apiserver.stop("SIGKILL");
  await apiserver.start();
  expect(await statusOfWatch(Note, saved), "the position is no longer served").toBe(410);
  expect(await statusOfWatch(Secret, saved, metadataOnly.watch), "nor for metadata alone").toBe(410);

  bridge = await startBridge();
  await bridged.untilSettled(Note);
  expect(bridge.logged("position no longer served, listing", Note)).toHaveLength(1);
  expect(bridge.logged("listed", Note)).toMatchObject([{ vanished: 2 }]);
  expect(await bridge.counts(Note)).toEqual({ lists: 1, added: 1, modified: 3, deleted: 2 });
  const events = bridged.history.all.slice(before);
  expect(events.map(({ change, at }) => `${change} ${at.name}`).sort()).toEqual([
    "added appears",
    "deleted vanishes",
    "deleted vanishes-too",
    "modified is-replaced",
    "modified note-2",
    "modified note-3",
  ]);
  expect(events.find(({ at }) => at.name === "is-replaced")?.uid).toBe(replacement.metadata.uid);
  // It resumes from there without a second list.
  await bridged.change("note-2");
  await bridged.untilSettled(Note);
  expect(await bridge.counts(Note)).toMatchObject({ lists: 1 });
  expect(bridged.history.disorder()).toEqual([]);
});

test.each(["SIGKILL", "SIGTERM"] as const)(
  "survives an API server stopped by %s and restarted while objects change",
  async (signal) => {
    const { apiserver } = bridged.environment.platform;
    const { pid } = bridge;
    const earlier = bridge.logged("watch failed, retrying").length;
    const churn = startChurn(
      bridged,
      Array.from({ length: 10 }, (_, i) => `restart-${i}`),
    );
    await churn.more(50);
    await apiserver.stop(signal);
    await apiserver.start();
    await churn.more(50);
    await churn.stop();
    for (const kind of kinds) await bridged.untilSettled(kind);
    expect(bridge.pid, "the bridge never ended").toBe(pid);
    expect(bridge.logged("failed to lead this kind, retrying")).toEqual([]);
    // Three kinds, with pauses that grow to seconds.
    expect(bridge.logged("watch failed, retrying").length - earlier).toBeLessThan(50);
    expect(bridged.history.disorder()).toEqual([]);
  },
);

test("after the API server is restored from a backup, the bus follows it back", async () => {
  const { etcd, apiserver, directory } = bridged.environment.platform;
  const data = join(directory, "etcd-1");
  const backup = join(directory, "backup");
  const down = async () => {
    await apiserver.stop("SIGKILL");
    await etcd.stop("SIGKILL");
  };
  const up = async () => {
    await etcd.start();
    await apiserver.start();
  };
  await bridged.create("deleted-after-the-backup");
  await down();
  await cp(data, backup, { recursive: true });
  await up();
  await bridged.create("created-after-the-backup");
  await bridged.change("note-2");
  await bridged.remove("deleted-after-the-backup");
  for (let i = 0; i < 20; i++) await bridged.change("note-4");
  await bridged.untilSettled(Note);
  await down();
  await rm(data, { recursive: true });
  await cp(backup, data, { recursive: true });
  await up();
  for (const kind of kinds) await bridged.untilSettled(kind);
  expect(bridge.logged("the API server has gone back in time, listing", Note)).toHaveLength(1);
  expect(bridged.history.of(Note, "created-after-the-backup").map(({ change }) => change)).toEqual([
    "added",
    "deleted",
  ]);
  // Later changes arrive.
  await bridged.change("note-2");
  await bridged.create("created-after-the-backup");
  await bridged.untilSettled(Note);
});
