/** Rollouts of a control plane's servers: responses while pods of two configurations run. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { resourcePath } from "../../bus/kube/client.ts";
import { ConfigMap, type Kind, Pod, Secret } from "../../bus/kube/kind.ts";
import { crashAnnotation } from "../../deploy/simulators/pipecd/admission.ts";
import { Application, ControlPlane, Piped } from "../../functions/pipecd/kinds.ts";
import { configKeys, secretKeys } from "../../functions/pipecd/names.ts";
import { type Pipecd, startPipecd } from "../harness/pipecd.ts";
import { DeploymentKind, names, polling, type Stack, startStack } from "../harness/pipecdstack.ts";
import { has } from "../harness/testobjects.ts";
import { bearer } from "../pipecd/contract/tokens.ts";
import { openWire, type Wire } from "../pipecd/contract/wire.ts";

const brokenVersion = "v0.57.9";

let pipecd: Pipecd;
let stack: Stack;
beforeAll(async () => {
  // Replaced servers run until the test ends them.
  pipecd = await startPipecd({ lingerMillis: 3_600_000, brokenVersion });
  stack = await startStack(pipecd, "c", "rollout");
});
afterAll(() => pipecd?.stop());

/** Calls the server over a new connection, and returns the status code. */
async function caller(): Promise<(project: string) => Promise<number>> {
  const wire: Wire = openWire();
  onTestFinished(() => wire.close());
  const { data } = await stack.get(Secret, "pipecd");
  const key = Buffer.from(data?.[secretKeys.encryptionKey] ?? "", "base64");
  const path = "/grpc.service.webservice.WebService/ListPipeds";
  return async (project) =>
    (await wire.call(pipecd.pods.web, path, bearer({ project, key }), new Uint8Array())).code;
}

test("the replaced server answers on its connections, without the new project, until it stops", async () => {
  const [before, later] = [await caller(), await caller()];
  expect(await before("quickstart")).toBe(0);
  const { config } = (await stack.get(ControlPlane, names.plane)).spec;
  await stack.edit(ControlPlane, names.plane, {
    config: { projects: [...(config.projects ?? []), { id: "added" }] },
  });
  await stack.ready(ControlPlane, names.plane);
  await expect.poll(async () => (await caller())("added"), polling).toBe(0);
  expect([await before("added"), await before("quickstart"), await later("added")]).toEqual([7, 0, 0]);
  stack.server().endReplaced();
  expect(await before("added")).toBe(0);
});

const parts = ["server", "ops"] as const;
const deployment = (part: string) => `${names.plane}-${part}`;
const availableIn = async (part: string) =>
  (await stack.get(DeploymentKind, deployment(part))).status?.availableReplicas;

test("keeps the former pods when new ones exit, reports the deadline, and recovers with the former version", async () => {
  await stack.ready(ControlPlane, names.plane);
  for (const part of parts)
    await stack.patch(DeploymentKind as unknown as Kind, deployment(part), {
      spec: { progressDeadlineSeconds: 2 },
    });
  const call = await caller();
  expect(await call("quickstart")).toBe(0);
  await stack.edit(ControlPlane, names.plane, { version: brokenVersion });
  for (const part of parts)
    await stack.until(DeploymentKind, deployment(part), (found) => found.status?.replicas === 2);
  const message = await stack.refused(
    ControlPlane as unknown as Kind,
    names.plane,
    "ProgressDeadlineExceeded",
  );
  expect(message).toContain("do not become ready");
  expect(await Promise.all(parts.map(availableIn))).toEqual([1, 1]);
  expect([await call("quickstart"), await (await caller())("quickstart")]).toEqual([0, 0]);
  await stack.ready(Piped, names.piped);
  await stack.ready(Application, names.application);

  await stack.edit(ControlPlane, names.plane, { version: "v0.57.0" });
  await stack.ready(ControlPlane, names.plane);
  expect(await call("quickstart")).toBe(0);
});

test("reports the last log lines of pods whose configuration PipeCD's programs cannot read", async () => {
  const config = { datastore: { type: "MONGODB" }, filestore: { type: "GCS" } };
  const text = JSON.stringify({ apiVersion: "pipecd.dev/v1beta1", kind: "ControlPlane", spec: config });
  const namespace = "rollout-crash";
  await pipecd.namespace(namespace);
  const { client } = pipecd.environment;
  await client.create(ConfigMap, configMap(namespace, text), { fieldManager: "test" });
  const labels = { app: "crash", "pipecd.kanatakita.com/control-plane": "other" };
  const containers = [{ name: "ops", image: "ghcr.io/pipe-cd/pipecd:v0.57.0" }];
  const pod = { metadata: { name: "ops", labels }, spec: { containers } };
  await client.request({ method: "POST", path: resourcePath(Pod, namespace), body: pod });
  const found = await pipecd.environment.until(
    Pod as Kind,
    { namespace, name: "ops" },
    (one) => (one.status as { phase?: string } | undefined)?.phase === "Running",
  );
  expect(found.metadata.annotations?.[crashAnnotation]).toBe('unknown datastore type "MONGODB"');
  expect(has("Ready", "False")(found as never)).toBe(true);
});

const configMap = (namespace: string, text: string) =>
  ({
    ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "pipecd" } },
    data: { [configKeys.controlPlane]: text },
  }) as never;
