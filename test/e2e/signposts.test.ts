/** Children outside of their owner's namespace, in both directions, and lists of one namespace and of all. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { ConfigMap } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { ClusterRole } from "../../bus/kube/rbac.ts";
import { connectBus } from "../../bus/nats/connect.ts";
import { deadLetters } from "../../bus/queue/deadletters.ts";
import { leftMessages } from "../../bus/topology/leftovers.ts";
import { runHere } from "../cli/here.ts";
import signposts, { Signpost } from "../fixtures/functions/signposts.ts";
import towns, { Town } from "../fixtures/functions/towns.ts";
import { type Replica, startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { createNamespace } from "../harness/namespaces.ts";
import { conditionOf, has, openTestObjects, type TestObjects } from "../harness/testobjects.ts";

const [path, townsPath] = ["signposts", "towns"].map((name) =>
  fileURLToPath(new URL(`../fixtures/functions/${name}.ts`, import.meta.url)),
) as [string, string];

let environment: TestEnvironment;
let objects: TestObjects;
let bridge: Replica;
const workers: Replica[] = [];
beforeAll(async () => {
  environment = await startTestEnvironment({ crds: [crdOf(Signpost), crdOf(Town)] });
  objects = await openTestObjects(environment, [signposts, towns], workers);
  bridge = await environment.bridge("bridge-1", { args: [path, townsPath] });
  const started = [path, path, townsPath].map((fn, n) => environment.worker(`worker-${n + 1}`, [fn]));
  workers.push(...(await Promise.all(started)));
});
afterAll(async () => {
  await objects?.close();
  await environment?.stop();
});

const post = (name: string, role: string, namespace = "default"): Promise<Stored<Signpost>> =>
  objects.create(Signpost, { metadata: { namespace, name }, spec: { role, verb: "get" } });

type Role = KubeObject & { readonly rules: readonly { readonly verbs: readonly string[] }[] | null };
const verbsOf = (role: KubeObject): readonly string[] | undefined => (role as Role).rules?.[0]?.verbs;

test("keeps and restores a child outside of its namespace, and deletes it with its owner", async () => {
  const { metadata } = await post("one", "one-role");
  await environment.until(Signpost, { name: "one" }, has("Ready", "True"));
  const role = await environment.client.get(ClusterRole, { name: "one-role" });
  expect(role.metadata.ownerReferences).toBeUndefined();
  expect(role.metadata.labels).toEqual({ "denrei.dev/owner-uid": metadata.uid });
  await objects.patch(ClusterRole, { name: "one-role" }, { rules: [] });
  await environment.until(ClusterRole, { name: "one-role" }, (found) => verbsOf(found)?.[0] === "get");
  await environment.client.delete(ClusterRole, { name: "one-role" }, {});
  await environment.until(
    ClusterRole,
    { name: "one-role" },
    ({ metadata: { uid } }) => uid !== role.metadata.uid,
  );
  await environment.client.delete(Signpost, { namespace: "default", name: "one" }, {});
  await environment.untilGone(ClusterRole, { name: "one-role" });
  await environment.untilGone(Signpost, { name: "one" });
});

test("does not adopt a child that another client or the same name of another namespace created", async () => {
  await createNamespace(environment.client, "elsewhere");
  await post("first", "shared-role");
  const { metadata } = await environment.until(Signpost, { name: "first" }, has("Ready", "True"));
  await post("first", "shared-role", "elsewhere");
  const second = await environment.until(
    Signpost,
    { namespace: "elsewhere", name: "first" },
    has("Stalled", "True", "NameTaken"),
  );
  expect(conditionOf(second, "Stalled")?.message).toContain("shared-role");
  const role = await environment.client.get(ClusterRole, { name: "shared-role" });
  expect(role.metadata.labels?.["denrei.dev/owner-uid"]).toBe(metadata.uid);
  // Nor does the deletion of the second one delete it.
  await environment.client.delete(Signpost, { namespace: "elsewhere", name: "first" }, {});
  await environment.untilGone(Signpost, { namespace: "elsewhere", name: "first" });
  expect((await environment.client.get(ClusterRole, { name: "shared-role" })).metadata.uid).toBe(
    role.metadata.uid,
  );
});

test("reads all objects of one namespace, from the bus and from the API server, and no others", async () => {
  await createNamespace(environment.client, "village");
  await post("a", "village-a", "village");
  await post("b", "village-b", "village");
  for (const name of ["a", "b"])
    await environment.until(
      Signpost,
      { namespace: "village", name },
      ({ status }) => status?.read?.length === 2,
    );
  const { status } = await environment.client.get(Signpost, { namespace: "village", name: "a" });
  expect([status?.read, status?.live]).toEqual([
    ["a", "b"],
    ["a", "b"],
  ]);
  await environment.client.delete(Signpost, { namespace: "village", name: "b" }, {});
  const left = await environment.until(
    Signpost,
    { namespace: "village", name: "a" },
    ({ status }) => status?.read?.length === 1,
  );
  expect(left.status?.live).toEqual(["a"]);
});

test("keeps and restores a child of a cluster-scoped object in a namespace, until its owner is deleted", async () => {
  await createNamespace(environment.client, "square");
  const at = { namespace: "square", name: "kyoto" };
  await objects.create(Town, { metadata: { name: "kyoto" }, spec: { namespace: "square" } });
  const { status, metadata } = await environment.until(Town, { name: "kyoto" }, has("Ready", "True"));
  expect(status?.self).toBe("kyoto");
  const child = await environment.client.get(ConfigMap, at);
  expect(child.metadata.ownerReferences).toEqual([
    expect.objectContaining({ kind: "Town", name: "kyoto", uid: metadata.uid, controller: true }),
  ]);
  await objects.patch(ConfigMap, at, { data: { town: "changed" } });
  await environment.until(ConfigMap, at, ({ data }) => data?.town === "kyoto");
  await environment.client.delete(ConfigMap, at, {});
  await environment.until(ConfigMap, at, (found) => found.metadata.uid !== child.metadata.uid);
  const seen = ({ status }: Town) => status?.children?.join() === "square/kyoto";
  await environment.until(Town, { name: "kyoto" }, seen);
  await environment.client.delete(Town, { name: "kyoto" }, {});
  await environment.untilGone(ConfigMap, at, 120_000);
});

test("reports a child without the namespace that its cluster-scoped owner cannot give it", async () => {
  await objects.create(Town, { metadata: { name: "nowhere" }, spec: {} });
  const messagesOf = (town: Town) => town.status?.conditions?.map(({ message }) => message).join() ?? "";
  const expected = "expected metadata.namespace in the child ConfigMap nowhere of Town nowhere, found none";
  await environment.until(Town, { name: "nowhere" }, (town) => messagesOf(town).includes(expected));
  await environment.client.delete(Town, { name: "nowhere" }, {});
});

test("lists the objects with a label in all namespaces, from the bus and from the API server", async () => {
  await createNamespace(environment.client, "north");
  await createNamespace(environment.client, "south");
  await objects.create(Town, { metadata: { name: "nara" }, spec: { namespace: "north" } });
  const labelled = (namespace: string, town: string) =>
    objects.create(Signpost, {
      metadata: { namespace, name: town, labels: { town } },
      spec: { role: `${namespace}-${town}`, verb: "get" },
    });
  await Promise.all([labelled("north", "nara"), labelled("south", "nara"), labelled("south", "osaka")]);
  const all = ["north/nara", "south/nara"];
  const complete = ({ status }: Town) => status?.read?.length === 2 && status.live?.length === 2;
  const { status } = await environment.until(Town, { name: "nara" }, complete);
  expect([status?.read, status?.live]).toEqual([all, all]);
  await Promise.all(
    ["north", "south"].map((namespace) =>
      environment.client.delete(Signpost, { namespace, name: "nara" }, {}),
    ),
  );
  await environment.until(
    Town,
    { name: "nara" },
    ({ status }) => status?.read?.length === 0 && status.live?.length === 0,
  );
});

const pruning = (...args: string[]) =>
  runHere(["prune", ...args], {
    env: { NATS_URL: environment.platform.natsUrl, KUBECONFIG: environment.platform.kubeconfigPath },
  });

test("denrei prune refuses a function of this program, and one whose workers run", async () => {
  expect(await pruning("hikawa")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("hikawa is a function of this project"),
  });
  expect(await pruning("signposts")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("a worker of signposts still runs"),
  });
});

test("denrei prune removes the finalizer of a removed function, and its data on the bus", async () => {
  const scope = { fn: "signposts", cluster: "default" };
  const others = "denrei.dev/hikawa";
  await createNamespace(environment.client, "left");
  await post("going", "going-role", "left");
  await post("staying", "staying-role", "left");
  await environment.until(Signpost, { namespace: "left", name: "going" }, has("Ready", "True"));
  const { metadata } = await environment.until(
    Signpost,
    { namespace: "left", name: "staying" },
    has("Ready", "True"),
  );
  expect(metadata.finalizers).toEqual(["denrei.dev/signposts"]);
  await Promise.all([...workers, bridge].map((replica) => replica.stop()));
  const finalizers = [...(metadata.finalizers ?? []), others];
  await objects.patch(Signpost, { namespace: "left", name: "staying" }, { metadata: { finalizers } });
  await environment.client.delete(Signpost, { namespace: "left", name: "going" }, {});
  const bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  onTestFinished(() => bus.nc.close());
  await deadLetters(bus, scope).put(
    { namespace: "left", name: "going" },
    {
      reason: "Test",
      message: "",
      attempts: 1,
      cause: { type: "replay" },
      replica: "",
      time: new Date().toISOString(),
    },
  );
  // The server notices a moment later that the workers have ended.
  await expect.poll(async () => (await pruning("signposts", "--dry-run")).code).toBe(0);

  const dry = await pruning("signposts", "--dry-run");
  expect(dry).toMatchObject({ code: 0, stderr: "" });
  expect(dry.stdout).toMatch(/Signpost\.test\.denrei\.dev +left\/going +being deleted +would be removed/);
  expect(dry.stdout).toMatch(/DEADLETTERS +deadletters\.signposts\.default\.> +1 +would be removed/);
  expect(dry.stdout).toMatch(/INDEXES +indexes\.signposts\.default\.> +\d+ +would be removed/);
  expect(dry.stdout).toMatch(/WORK_signposts +\(the stream\) .* would be removed/);
  const going = await environment.client.get(Signpost, { namespace: "left", name: "going" });
  expect(going.metadata.finalizers).toEqual(["denrei.dev/signposts"]);

  expect(await pruning("signposts")).toMatchObject({ code: 0, stderr: "" });
  await environment.untilGone(Signpost, { namespace: "left", name: "going" });
  const staying = await environment.client.get(Signpost, { namespace: "left", name: "staying" });
  expect(staying.metadata.finalizers).toEqual([others]);
  expect(await leftMessages(bus.jsm, scope)).toEqual([]);
  expect(await bus.jsm.streams.names().next()).not.toContain("WORK_signposts");
  expect((await pruning("signposts")).stdout).toBe("signposts has no leftovers.\n");
  await objects.patch(Signpost, { namespace: "left", name: "staying" }, { metadata: { finalizers: [] } });
});
