import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resourcePath } from "../../bus/kube/client.ts";
import { crdOf } from "../../bus/kube/crd.ts";
import { ConfigMap, Pod } from "../../bus/kube/kind.ts";
import { deadLetters } from "../../bus/queue/deadletters.ts";
import { Branch } from "../fixtures/functions/branches.ts";
import { Letter } from "../fixtures/functions/letters.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import { startKet } from "../harness/startket.ts";
import { Event } from "./event.ts";
import { readFixture } from "./fixture.ts";
import { type Ket, type Manifest, UnservedKindError } from "./index.ts";

const functions = ["probe", "branches"].map(
  (name) => new URL(`../fixtures/functions/${name}.ts`, import.meta.url),
);
const fixtures = fileURLToPath(new URL("../fixtures/cases/probe", import.meta.url));

const configMap = (name: string, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data: { text: name },
});
/** ConfigMaps whose names start with `start`. */
const named = async (start: string): Promise<string[]> =>
  (await ket.list(ConfigMap)).map(({ metadata }) => metadata.name).filter((name) => name.startsWith(start));

let ket: Ket;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ket-manifests-"));
  const shipped = (kind: string) => fileURLToPath(new URL(`../../crds/${kind}`, import.meta.url));
  ket = await startKet({
    functions,
    fixtures,
    crds: [
      Probe,
      crdOf(Branch) as Manifest,
      shipped("zundokos.zundokokiyoshi.kaitoy.github.com.yaml"),
      pathToFileURL(shipped("kiyoshis.zundokokiyoshi.kaitoy.github.com.yaml")),
    ],
    github: { apps: [{ slug: "ours" }, { slug: "theirs", webhookSecret: "known to two" }] },
    nodes: 1,
  });
});
afterAll(async () => {
  await ket?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("applies a case, waits for its expectations, and deletes it", async () => {
  await ket.apply("steady", async ({ given, found }) => {
    expect(given.map(({ metadata }) => metadata)).toMatchObject([
      { name: "steady", namespace: ket.namespace },
    ]);
    expect(found).toMatchObject([{ status: { value: 3 } }, undefined]);
    expect(await ket.list(Probe)).toHaveLength(1);
  });
  expect(await ket.list(Probe)).toEqual([]);
});

test("a failed case reports everything known about its objects, and is deleted", async () => {
  // Events and dead letters exist before the case is applied, which then changes nothing.
  const { given } = await readFixture(fixtures, "givenup");
  await ket.kubectl.apply(...given);
  const known = async () => {
    const events = (await ket.list(Event)).map(({ reason }) => reason);
    const letters = await deadLetters(ket.nats, { fn: "probe", cluster: "default" }).list();
    return [events, letters.map(({ letter }) => letter.reason)];
  };
  const reasons = expect.arrayContaining(["TerminalRequested"]);
  await expect.poll(known, { timeout: 60_000 }).toEqual([reasons, reasons]);
  const error: Error = await ket.apply("givenup", undefined, 1_000).then(
    () => new Error("none"),
    (error) => error,
  );
  // The differences, then the details of each object.
  const parts = [
    'the case "givenup" did not become as expected within 1000 ms:',
    "Probe given-up .status.value: expected 3, found nothing",
    'Probe given-up .status.conditions[type=Ready].status: expected "True", found "False"',
    `ConfigMap ${ket.namespace}/beside\n  object:`,
    "text: beside",
    `Probe ${ket.namespace}/given-up\n  object:`,
    "reason: TerminalRequested",
    "  Events:\n    Warning TerminalRequested: the spec asks for a terminal error",
    "info probing",
    "TerminalError: the spec asks for a terminal error",
    `  queue:\n    probe ${ket.namespace}/given-up: dead letter: TerminalRequested: the spec asks for a terminal error (1 attempts)`,
  ];
  const places = parts.map((part) => error.message.indexOf(part));
  expect(places, error.message).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(await ket.list(Probe)).toEqual([]);
  expect((await ket.list(ConfigMap)).filter(({ metadata }) => metadata.name === "beside")).toEqual([]);
});

test("a failing callback is reported like a failed case, and the case is deleted", async () => {
  const failing = ket.apply("steady", () => {
    throw new Error("fails in the callback");
  });
  await expect(failing).rejects.toThrow(/^the case "steady" fails in the callback\nProbe ket-/);
  expect(await ket.list(Probe)).toEqual([]);
});

test("a case with an unknown kind reports only that, and deletes its other objects", async () => {
  const error: Error = await ket.apply("mistyped").then(
    () => new Error("none"),
    (error) => error,
  );
  for (const part of [
    'the case "mistyped" expected the API server to serve Probe in test.denrei.dev/v2',
    "text: before",
    "Probe mistyped: expected the API server to serve Probe in test.denrei.dev/v2",
    `Probe ${ket.namespace}/mistyped\n  object:\n    not found`,
  ])
    expect(error.message).toContain(part);
  expect(error.message).not.toContain("were not deleted");
  expect(await named("before")).toEqual([]);
});

test("deletes objects in reverse order, and continues after one that cannot be deleted", async () => {
  const maps = Array.from({ length: 12 }, (_, at) => configMap(`numbered-${at}`));
  const applied = await ket.kubectl.apply(...maps);
  const since = applied.at(-1)?.metadata.resourceVersion;
  const elsewhere = configMap("nowhere", { namespace: "not/a/namespace" });
  await expect(ket.kubectl.delete(...maps, elsewhere)).rejects.toThrow("not/a/namespace");
  const gone: string[] = [];
  const path = resourcePath(ConfigMap, ket.namespace);
  const query = { resourceVersion: since };
  const signal = AbortSignal.timeout(30_000);
  for await (const { object } of await ket.client.watch({ path, query, signal })) {
    const { name, deletionTimestamp } = object.metadata;
    if (deletionTimestamp && name.startsWith("numbered-") && !gone.includes(name)) gone.push(name);
    if (gone.length === maps.length) break;
  }
  expect(gone).toEqual(maps.map(({ metadata }) => metadata.name).toReversed());
  expect(await named("numbered-")).toEqual([]);
});

/** Writes a file with manifests; JSON is YAML. */
async function file(name: string, ...manifests: readonly object[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, manifests.map((one) => JSON.stringify(one)).join("\n---\n"));
  return path;
}

test("applies and deletes the objects of files in their order", async () => {
  const [one, other] = [
    await file("one.yaml", configMap("filed-1"), configMap("filed-2")),
    await file("other.yaml", configMap("filed-3")),
  ];
  const applied = await ket.kubectl.applyFile(one);
  expect(applied.map(({ metadata }) => metadata.name)).toEqual(["filed-1", "filed-2"]);
  // Existing objects are recreated, and missing ones created.
  const recreated = await ket.kubectl.applyAllManifests([other, one]);
  expect(recreated.map(({ metadata }) => metadata.name)).toEqual(["filed-3", "filed-1", "filed-2"]);
  const uids = applied.map(({ metadata }) => metadata.uid);
  expect(recreated.filter(({ metadata }) => uids.includes(metadata.uid))).toEqual([]);
  await ket.kubectl.deleteFile(one);
  expect(await named("filed-")).toEqual(["filed-3"]);
  await ket.kubectl.deleteFile(other);
  expect(await named("filed-")).toEqual([]);
});

test("applies and deletes the output of a kustomization in the run's own namespace", async () => {
  await file("kustomized.yaml", configMap("kustomized"));
  await file("kustomization.yaml", { resources: ["kustomized.yaml"], nameSuffix: "-again" });
  const [applied, ...more] = await ket.kubectl.applyKustomize(folder);
  expect(more).toEqual([]);
  expect(applied?.metadata).toMatchObject({ namespace: ket.namespace, name: "kustomized-again" });
  await ket.kubectl.deleteKustomize(folder);
  expect(await named("kustomized")).toEqual([]);
});

test("resolves exactly the kind that was requested", async () => {
  const group = "zundokokiyoshi.kaitoy.github.com/v1beta1";
  for (const kind of ["Zundoko", "Kiyoshi"])
    expect(await ket.kubectl.kindOf(group, kind)).toMatchObject({ kind });
  for (const kind of ["Probe", "Branch"])
    expect(await ket.kubectl.kindOf("test.denrei.dev/v1", kind)).toMatchObject({ kind });
  await expect(ket.kubectl.kindOf(group, "Hikawa")).rejects.toThrow("there it has ");
});

test("delivers the webhooks of each GitHub App to the function that subscribes to them", async () => {
  const { github } = ket;
  const branch = { apiVersion: "test.denrei.dev/v1", kind: "Branch", metadata: { name: "main" } };
  await ket.kubectl.apply({ ...branch, spec: { repository: "acme/web", branch: "main" } });
  const log = ket.workers[0]?.log;
  await log?.until((line) => line.includes('"looked at the branch"'));
  await github?.push({ repository: "acme/web", branch: "main" });
  const pushes = () => github?.deliveries().filter(({ event }) => event === "push") ?? [];
  await expect.poll(pushes, { timeout: 60_000 }).toMatchObject([{ status_code: 202 }, { status_code: 202 }]);
  for (const { guid } of pushes())
    await log?.until((line) => line.includes(guid) && line.includes('"looked at the branch"'));
  await ket.kubectl.delete(branch);
});

test("pods become ready on simulated nodes", async () => {
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "still" } };
  const spec = { containers: [{ name: "main", image: "none" }] };
  await ket.kubectl.apply({ ...pod, spec });
  const ready = await ket.waitFor({ kind: Pod, name: "still" }, { status: { phase: "Running" } });
  expect(ready.spec).toMatchObject({ nodeName: expect.any(String) });
  await ket.kubectl.delete(pod);
});

test("reports whether a request is delayed or owned by a worker", async () => {
  const { kubectl } = ket;
  const named = { apiVersion: "test.denrei.dev/v1", kind: "Probe" };
  const probes = ["later", "hang"].map((mode) => ({
    ...named,
    metadata: { name: mode },
    spec: { mode, millis: 600_000 },
  }));
  await kubectl.apply(...probes);
  const log = ket.workers[0]?.log;
  for (const { metadata } of probes)
    await log?.until(
      (line) => line.includes(`"${ket.namespace}/${metadata.name}"`) && line.includes('"probing"'),
    );
  const errorOf = (name: string) =>
    ket.waitFor({ ...named, name }, { status: { value: 1 } }, 100).catch((error: Error) => error.message);
  // A logged reconcile ends a moment later, and a hanging one restarts after its timeout.
  const polling = { timeout: 60_000 };
  await expect
    .poll(() => errorOf("later"), polling)
    .toContain(`probe ${ket.namespace}/later: delayed (until 20`);
  await expect
    .poll(() => errorOf("hang"), polling)
    .toContain(`probe ${ket.namespace}/hang: owned by a worker`);
  await kubectl.apply({ ...named, metadata: { name: "hang" }, spec: { mode: "ok" } });
  await kubectl.delete(...probes);
});

test("treats objects of unserved or removed kinds as deleted, but rejects a kind that was never served", async () => {
  await ket.waitUntilGone({ kind: Letter, name: "lost" });
  const kiyoshi = { apiVersion: "zundokokiyoshi.kaitoy.github.com/v1beta1", kind: "Kiyoshi", name: "lost" };
  await ket.waitUntilGone(kiyoshi);
  await ket.kubectl.delete({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "kiyoshis.zundokokiyoshi.kaitoy.github.com" },
  });
  await ket.waitUntilGone(kiyoshi);
  await expect(ket.waitUntilGone({ ...kiyoshi, kind: "Kiyosi" })).rejects.toThrow(UnservedKindError);
});

test("names an unknown case, kind, and operator", async () => {
  await expect(ket.apply("nothing")).rejects.toThrow(
    /expected the folder of a case at .*nothing, found none. Cases are: givenup, mistyped, steady/,
  );
  const probe = { apiVersion: "test.denrei.dev/v2", kind: "Probe", metadata: { name: "a" } };
  await expect(ket.kubectl.apply(probe)).rejects.toThrow(
    "expected the API server to serve Probe in test.denrei.dev/v2",
  );
});
