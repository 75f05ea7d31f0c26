/** An Application whose pods do not become ready: its status, the pods that keep running, and the rollback. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { externalKind, type Kind, Pod } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { Deployment } from "../harness/children.ts";
import { type Paas, startPaas } from "../harness/paas.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const Node = externalKind<KubeObject<{ readonly unschedulable?: boolean }>>({
  group: "",
  version: "v1",
  kind: "Node",
  plural: "nodes",
  scope: "Cluster",
});

let paas: Paas;
beforeAll(async () => {
  paas = await startPaas({ functions: ["modoki-application"] });
  await paas.site({ "config.yaml": "site: { progressDeadlineSeconds: 6 }" });
});
afterAll(async () => {
  if (paas === undefined) return;
  // The next file uses the node as well.
  await room("free");
  await paas.stop();
});

const at = (name: string) => ({ namespace: "default", name });
const until = (name: string, condition: (app: Stored<Application>) => boolean) =>
  paas.environment.until(Application, at(name), condition);
const isCurrent = ({ metadata, status }: Stored<Application>) =>
  status?.observedGeneration === metadata.generation;
const isDeployed = (app: Stored<Application>) => isCurrent(app) && has("Ready", "True")(app);
const hasFailed = (app: Stored<Application>) =>
  isCurrent(app) && has("Ready", "False", "ProgressDeadlineExceeded")(app);
/** Makes the node schedulable or not; running pods stay. */
const room = async (is: "free" | "full") => {
  await paas.patch(Node, { name: "node-1" }, { spec: { unschedulable: is === "full" ? true : null } });
  // The scheduler may see new pods before it sees the change of the node.
  if (is === "full") await expect.poll(findsPlace, { timeout: 60_000 }).toBe(false);
};

let probes = 0;
/** Whether the scheduler has room for a pod. */
async function findsPlace(): Promise<boolean> {
  const name = `probe-${++probes}`;
  await paas.create(Pod, {
    metadata: at(name),
    spec: { containers: [{ name: "main", image: "probe:1" }] },
  });
  const { spec } = await paas.environment.until(
    Pod as Kind<KubeObject<{ readonly nodeName?: string }>>,
    at(name),
    (pod) => pod.spec.nodeName !== undefined || has("PodScheduled", "False")(pod),
  );
  await paas.environment.client.delete(Pod, at(name), {});
  return spec.nodeName !== undefined;
}

test("new pods that do not become ready fail the rollout, and the old ones run until a rollback", async () => {
  await room("free");
  await paas.application("steady", { image: "steady:1" });
  await until("steady", isDeployed);
  await room("full");
  await paas.patch(Application, "steady", { spec: { image: "steady:2" } });
  const failed = await until("steady", hasFailed);
  expect(failed.status).toMatchObject({
    status: "failed",
    message: expect.stringContaining("the pods of the Deployment steady do not become ready"),
    currentImage: "steady:1",
    readyReplicas: 1,
    history: [{ image: "steady:1" }],
  });
  expect(conditionOf(failed, "RolledOut")).toMatchObject({
    status: "False",
    reason: "ProgressDeadlineExceeded",
  });
  expect(conditionOf(failed, "Applied")?.status).toBe("True");
  expect((await paas.environment.client.get(Deployment, at("steady"))).status?.availableReplicas).toBe(1);
  await expect
    .poll(async () => (await paas.events("steady")).map(({ reason }) => reason), { timeout: 30_000 })
    .toContain("ProgressDeadlineExceeded");
  // There is still no room, but the previous version is already running.
  await paas.patch(Application, "steady", { spec: { pinnedImage: "steady:1" } });
  const back = await until("steady", isDeployed);
  expect(back.status).toMatchObject({ status: "deployed", message: "", currentImage: "steady:1" });
});

test("reports a failed first rollout, and clears the failure when it succeeds later", async () => {
  await room("full");
  // Observed from the start, because it fails after the deadline.
  const progressing = until("first", ({ status }) => status?.status === "progressing");
  await paas.application("first", { image: "first:1" });
  const under = await progressing;
  expect(conditionOf(under)).toMatchObject({ status: "False", reason: "Progressing" });
  expect(under.status?.message).toBe("");
  const failed = await until("first", hasFailed);
  expect(failed.status).toMatchObject({ status: "failed", readyReplicas: 0 });
  expect(failed.status?.currentImage).toBeUndefined();
  expect(failed.status?.history).toBeUndefined();
  await room("free");
  const deployed = await until("first", isDeployed);
  expect(deployed.status).toMatchObject({
    status: "deployed",
    message: "",
    currentImage: "first:1",
    readyReplicas: 1,
  });
  expect(deployed.status?.conditions?.map(({ type, status }) => [type, status])).toEqual(
    ["Rendered", "Applied", "RolledOut", "Ready"].map((type) => [type, "True"]),
  );
});

test("fewer pods than desired are a rollout in progress, and zero desired pods a finished one", async () => {
  await room("free");
  await paas.application("wide", { image: "wide:1" });
  await until("wide", isDeployed);
  await room("full");
  await paas.patch(Application, "wide", { spec: { replicas: 2 } });
  const short = await until(
    "wide",
    (app) => isCurrent(app) && app.status?.replicas === 2 && has("RolledOut", "False")(app),
  );
  expect(short.status).toMatchObject({ status: "progressing", readyReplicas: 1 });
  expect(conditionOf(short)?.message).toBe("1 of 2 pods are available");
  await paas.patch(Application, "wide", { spec: { replicas: 0 } });
  const none = await until("wide", (app) => isDeployed(app) && app.status?.replicas === 0);
  expect(none.status).toMatchObject({ status: "deployed", readyReplicas: 0 });
});
