/** Objects in a namespace with children outside of it, and functions that look at all objects of a namespace. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { ClusterRole } from "../../bus/kube/rbac.ts";
import signposts, { Signpost } from "../fixtures/functions/signposts.ts";
import { type Kit, type Replica, startKit } from "../harness/kit.ts";
import { createNamespace } from "../harness/namespaces.ts";
import { conditionOf, has, openWorld, type World } from "../harness/world.ts";

const path = fileURLToPath(new URL("../fixtures/functions/signposts.ts", import.meta.url));

let kit: Kit;
let world: World;
const workers: Replica[] = [];
beforeAll(async () => {
  kit = await startKit({ crds: [crdOf(Signpost)] });
  world = await openWorld(kit, [signposts], workers);
  await kit.bridge("bridge-1", { args: [path] });
  workers.push(...(await Promise.all([1, 2].map((n) => kit.worker(`worker-${n}`, [path])))));
});
afterAll(async () => {
  await world?.close();
  await kit?.stop();
});

const post = (name: string, role: string, namespace = "default"): Promise<Stored<Signpost>> =>
  world.create(Signpost, { metadata: { namespace, name }, spec: { role, verb: "get" } });

type Role = KubeObject & { readonly rules: readonly { readonly verbs: readonly string[] }[] | null };
const verbsOf = (role: KubeObject): readonly string[] | undefined => (role as Role).rules?.[0]?.verbs;

test("a child outside of the namespace is kept, is restored by whoever owns it, and goes with it", async () => {
  const { metadata } = await post("one", "one-role");
  await kit.until(Signpost, { name: "one" }, has("Ready", "True"));
  const role = await kit.client.get(ClusterRole, { name: "one-role" });
  expect(role.metadata.ownerReferences).toBeUndefined();
  expect(role.metadata.labels).toEqual({ "denrei.dev/owner-uid": metadata.uid });
  await world.patch(ClusterRole, { name: "one-role" }, { rules: [] });
  await kit.until(ClusterRole, { name: "one-role" }, (found) => verbsOf(found)?.[0] === "get");
  await kit.client.delete(ClusterRole, { name: "one-role" }, {});
  await kit.until(ClusterRole, { name: "one-role" }, ({ metadata: { uid } }) => uid !== role.metadata.uid);
  await kit.client.delete(Signpost, { namespace: "default", name: "one" }, {});
  await kit.untilGone(ClusterRole, { name: "one-role" });
  await kit.untilGone(Signpost, { name: "one" });
});

test("one that somebody else has made, or the same name of another namespace has, is not taken over", async () => {
  await createNamespace(kit.client, "elsewhere");
  await post("first", "shared-role");
  const { metadata } = await kit.until(Signpost, { name: "first" }, has("Ready", "True"));
  await post("first", "shared-role", "elsewhere");
  const second = await kit.until(
    Signpost,
    { namespace: "elsewhere", name: "first" },
    has("Stalled", "True", "NameTaken"),
  );
  expect(conditionOf(second, "Stalled")?.message).toContain("shared-role");
  const role = await kit.client.get(ClusterRole, { name: "shared-role" });
  expect(role.metadata.labels?.["denrei.dev/owner-uid"]).toBe(metadata.uid);
  // Nor does the end of the second one take it away.
  await kit.client.delete(Signpost, { namespace: "elsewhere", name: "first" }, {});
  await kit.untilGone(Signpost, { namespace: "elsewhere", name: "first" });
  expect((await kit.client.get(ClusterRole, { name: "shared-role" })).metadata.uid).toBe(role.metadata.uid);
});

test("all objects of a namespace are seen, on the bus and by the API server, and no others", async () => {
  await createNamespace(kit.client, "village");
  await post("a", "village-a", "village");
  await post("b", "village-b", "village");
  for (const name of ["a", "b"])
    await kit.until(Signpost, { namespace: "village", name }, ({ status }) => status?.read?.length === 2);
  const { status } = await kit.client.get(Signpost, { namespace: "village", name: "a" });
  expect([status?.read, status?.live]).toEqual([
    ["a", "b"],
    ["a", "b"],
  ]);
  await kit.client.delete(Signpost, { namespace: "village", name: "b" }, {});
  const left = await kit.until(
    Signpost,
    { namespace: "village", name: "a" },
    ({ status }) => status?.read?.length === 1,
  );
  expect(left.status?.live).toEqual(["a"]);
});
