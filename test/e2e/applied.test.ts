/** Applied objects converge to the desired state, and other clients' fields stay. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isNotFound } from "../../bus/kube/errors.ts";
import { ConfigMap } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import gardeners from "../fixtures/functions/gardeners.ts";
import inspectors from "../fixtures/functions/inspectors.ts";
import planters, { Plant, Planter, perSecond } from "../fixtures/functions/planters.ts";
import { testCluster } from "../harness/platforms.ts";
import { startKet } from "../harness/startket.ts";
import { has, openTestObjects, type TestObjects } from "../harness/testobjects.ts";
import { changeBeforeTimer } from "../harness/timers.ts";
import type { Ket } from "../ket/index.ts";

const paths = ["planters", "gardeners", "inspectors"].map((name) =>
  fileURLToPath(new URL(`../fixtures/functions/${name}.ts`, import.meta.url)),
);
const fixtures = fileURLToPath(new URL("../fixtures/cases/planters", import.meta.url));
const polling = { timeout: 60_000 };

let ket: Ket;
let objects: TestObjects;
beforeAll(async () => {
  const cluster = await testCluster();
  ket = await startKet({ ...cluster, functions: paths, fixtures, workers: 2, controllerManager: "omit" });
  const { client, nats, namespace } = ket;
  const platform = { natsUrl: nats.url };
  objects = await openTestObjects({ client, platform }, [planters, gardeners, inspectors], ket.workers, {
    namespace,
    ...(cluster.cluster === "existing" && { watched: [namespace] }),
  });
});
afterAll(async () => {
  await objects?.close();
  await ket?.stop();
});

const plant = (name: string, spec: Planter["spec"] = {}): Promise<Stored<Planter>> =>
  objects.create(Planter, { metadata: { namespace: ket.namespace, name }, spec });
const planted = (name: string) => ket.waitFor({ kind: Planter, name }, has("Ready", "True"));
const child = (name: string) => ket.client.get(Plant, { namespace: ket.namespace, name });
/** The managers of an object and their fields, without Kubernetes controllers, which an existing cluster runs. */
const writtenBy = ({ metadata }: Plant) =>
  (metadata as { managedFields?: { manager: string; operation: string }[] }).managedFields?.filter(
    ({ manager }) => manager !== "kube-controller-manager",
  );
const envOf = ({ spec }: Plant) => spec.template.spec.containers[0]?.env;

test("applies a child with the function's field manager, and then stops writing", async () => {
  await plant("steady", { env: { A: "1" } });
  await planted("steady");
  expect(writtenBy(await child("steady"))).toEqual([
    expect.objectContaining({ manager: "gardener", operation: "Apply" }),
  ]);
  await objects.untilQuiet();
  const writes = await objects.writes();
  for (let round = 0; round < 5; round++) {
    await objects.replay(await objects.changes(`objects.*.*.Planter.${ket.namespace}.*.steady`));
    await objects.touch(Planter, "steady");
    await objects.untilQuiet();
  }
  expect(await objects.writes()).toBe(writes);
});

test("removes fields that are no longer desired, and keeps those that others added", async () => {
  await plant("changing", { env: { A: "1", B: "2" }, labels: { ours: "yes", also: "yes" } });
  await planted("changing");
  await objects.patch(Plant, "changing", { metadata: { labels: { theirs: "yes" } } });
  await objects.patch(Planter, "changing", { spec: { env: { B: null }, labels: { ours: null } } });
  const changed = await ket.waitFor({ kind: Plant, name: "changing" }, (found) => envOf(found)?.length === 1);
  expect(envOf(changed)).toEqual([{ name: "A", value: "1" }]);
  expect(changed.metadata.labels).toEqual({ theirs: "yes", also: "yes" });
});

test("reverts changes by others", async () => {
  await plant("drifting", { env: { A: "1" } });
  await planted("drifting");
  await objects.patch(Plant, "drifting", { spec: { replicas: 3 } });
  await ket.waitFor({ kind: Plant, name: "drifting" }, ({ spec }) => spec.replicas === 0);
});

test("restores a removed owner reference, because it identifies the object by its UID", async () => {
  await plant("lost");
  await planted("lost");
  const { uid } = (await child("lost")).metadata;
  await objects.patch(Plant, "lost", { metadata: { ownerReferences: null } });
  await objects.touch(Planter, "lost");
  const found = await ket.waitFor(
    { kind: Plant, name: "lost" },
    ({ metadata }) => !!metadata.ownerReferences?.length,
  );
  expect(found.metadata.uid).toBe(uid);
});

test("leaves an object of that name that it does not own, and waits for it", () =>
  ket.apply("taken", async ({ given: [theirs] }) => {
    const found = await child("taken");
    expect(found.metadata.uid).toBe(theirs?.metadata.uid);
    expect(writtenBy(found)).toEqual(writtenBy(theirs as Plant));
    const at = { namespace: ket.namespace, name: "taken" };
    const delay = await changeBeforeTimer(objects, "planters", at, () => ket.client.delete(Plant, at, {}));
    expect(delay).toBeLessThanOrEqual(5000);
    await planted("taken");
  }));

test("applies some fields of an object that is no child, and removes them when they are no longer desired", async () => {
  await plant("marked", { env: { A: "1" } });
  await planted("marked");
  await objects.patch(Planter, "marked", { metadata: { labels: { other: "1" } } });
  await plant("marker", { marks: "marked", mark: "one" });
  const marked = await ket.waitFor(
    { kind: Planter, name: "marked" },
    ({ metadata }) => metadata.labels?.mark === "one",
  );
  expect(marked.metadata.labels).toEqual({ other: "1", mark: "one" });
  expect(marked.metadata.ownerReferences).toBeUndefined();
  await objects.untilQuiet();
  const writes = await objects.writes();
  await objects.touch(Planter, "marker");
  await objects.untilQuiet();
  expect(await objects.writes()).toBe(writes);
  await objects.patch(Planter, "marker", { spec: { mark: null } });
  const without = await ket.waitFor(
    { kind: Planter, name: "marked" },
    ({ metadata }) => !metadata.labels?.mark,
  );
  expect(without.metadata.labels).toEqual({ other: "1" });
});

test("reconciles many dependents of one object one after another, each once", async () => {
  const count = 3 * perSecond + 1;
  const names = Array.from({ length: count }, (_, at) => `thirsty-${at}`);
  await Promise.all(names.map((name) => plant(name, { water: "well" })));
  const watered = () =>
    ket.workers.flatMap(({ log }) => log.records()).filter(({ msg }) => msg === "watered") as unknown as {
      readonly key: string;
      readonly at: number;
      readonly cause: { readonly kind?: string };
    }[];
  await expect.poll(() => new Set(watered().map(({ key }) => key)).size, polling).toBe(count);
  await objects.untilQuiet();
  const created = Date.now();
  await objects.create(ConfigMap, {
    metadata: { namespace: ket.namespace, name: "well" },
    data: { depth: "3" },
  });
  const byWell = () => watered().filter(({ cause }) => cause.kind === "ConfigMap");
  await expect.poll(() => byWell().length, polling).toBe(count);
  await objects.untilQuiet();
  expect(new Set(byWell().map(({ key }) => key)).size).toBe(byWell().length);
  // The last one waited for its turn.
  const last = Math.max(...byWell().map(({ at }) => at));
  expect(last - created).toBeGreaterThanOrEqual(((count - 1) / perSecond) * 1000);
});

test("a filtered watch requests for its projection, and once when an object leaves its selector", async () => {
  await plant("tended");
  await planted("tended");
  const name = "calendar";
  const byCalendar = async () => {
    await objects.untilQuiet();
    const records = ket.workers.flatMap(({ log }) => log.records());
    return records.filter(({ msg, key, cause }) => {
      const { kind } = (cause ?? {}) as { readonly kind?: string };
      return msg === "looked after it" && key === `${ket.namespace}/tended` && kind === "ConfigMap";
    }).length;
  };
  const labels = { gardener: "tended", season: "spring" };
  await objects.create(ConfigMap, {
    metadata: { namespace: ket.namespace, name, labels },
    data: { day: "1" },
  });
  expect(await byCalendar()).toBe(1);
  for (const day of ["2", "3"]) {
    await objects.patch(ConfigMap, name, { data: { day }, metadata: { annotations: { day } } });
    expect(await byCalendar()).toBe(1);
  }
  await objects.patch(ConfigMap, name, { metadata: { labels: { season: "summer" } } });
  expect(await byCalendar()).toBe(2);
  await objects.patch(ConfigMap, name, { metadata: { labels: { gardener: null } } });
  expect(await byCalendar()).toBe(3);
  await objects.patch(ConfigMap, name, { metadata: { labels: { season: "autumn" } } });
  expect(await byCalendar()).toBe(3);
});

test("a filter of the objects limits reconciles to them, and finalizes an object that has left it", async () => {
  const name = "filtered";
  const at = { namespace: ket.namespace, name };
  await plant(name);
  await planted(name);
  const logged = async (message: string) => {
    await objects.untilQuiet();
    const records = ket.workers.flatMap(({ log }) => log.records());
    return records.filter(({ msg, key }) => msg === message && key === `${ket.namespace}/${name}`).length;
  };
  const patch = (changes: object) => objects.patch(Planter, name, changes);
  const finalizers = async () => (await ket.client.get(Planter, at)).metadata.finalizers;
  expect([await logged("inspected"), await finalizers()]).toEqual([0, undefined]);
  await patch({ metadata: { labels: { inspected: "yes" } } });
  expect([await logged("inspected"), await finalizers()]).toEqual([1, ["denrei.dev/inspectors"]]);
  await patch({ metadata: { labels: { other: "1" } } });
  expect(await logged("inspected")).toBe(1);
  await patch({ spec: { env: { A: "1" } } });
  expect(await logged("inspected")).toBe(2);
  await patch({ metadata: { labels: { inspected: null } } });
  await patch({ spec: { env: { A: "2" } } });
  const inspector = { namespace: ket.namespace, name: "inspector", labels: { inspector: name } };
  await objects.create(ConfigMap, { metadata: inspector });
  expect([await logged("inspected"), await finalizers()]).toEqual([2, ["denrei.dev/inspectors"]]);
  await ket.client.delete(Planter, at, {});
  await expect.poll(() => logged("signed off"), polling).toBe(1);
  await expect.poll(() => ket.client.get(Planter, at).catch(isNotFound), polling).toBe(true);
});

test("a function that is not the only one for its kind writes no conditions", async () => {
  await plant("rained-on", { blocked: true });
  await planted("rained-on");
  const seen = () =>
    ket.workers
      .flatMap(({ log }) => log.records())
      .filter((record) => record.msg === "blocked" && record.key === `${ket.namespace}/rained-on`);
  await expect.poll(() => seen().length, polling).toBeGreaterThan(0);
  await objects.untilQuiet();
  const { status } = await ket.client.get(Planter, { namespace: ket.namespace, name: "rained-on" });
  expect(status?.conditions?.map(({ type }) => type)).toEqual(["Ready"]);
});
