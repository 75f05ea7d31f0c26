/** The functions of PipeCD with exactly their generated permissions, each as a separate user. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiVersionOf, type Kind } from "../../bus/kube/kind.ts";
import { ClusterRole } from "../../bus/kube/rbac.ts";
import { optInManifests, roleManifests, separateAccounts, workloadName } from "../../deploy/generate/rbac.ts";
import { functions } from "../../functions/index.ts";
import { Application, ControlPlane, EventRegistration, Mongo } from "../../functions/pipecd/kinds.ts";
import { auditedRequests } from "../harness/audit.ts";
import { createNamespace } from "../harness/namespaces.ts";
import { type LocalPipecd, stackKinds, startPipecd } from "../harness/pipecd.ts";
import { accountUser, grant } from "../harness/rights.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const ours = functions.filter(({ name }) => name.startsWith("pipecd-"));
const platform = "denrei";
const namespace = "stack";
const at = (name: string) => ({ namespace, name });

let pipecd: LocalPipecd;
beforeAll(async () => {
  pipecd = await startPipecd({ workers: 0 });
  const { environment, env } = pipecd;
  await createNamespace(environment.client, platform);
  await grant(environment.client, roleManifests(separateAccounts(ours), platform));
  await Promise.all(
    ours.map(async ({ name }) => {
      const KUBECONFIG = await environment.platform.kubeconfigFor(accountUser(`denrei-${name}`));
      await environment.worker(name, [name], { env: { ...env, KUBECONFIG } });
    }),
  );
});
afterAll(() => pipecd?.stop());

test("where Secrets may not be read, the condition names the command that grants it", async () => {
  await pipecd.namespace(namespace);
  await pipecd.apply("c", namespace, (object) => ({
    ...object,
    ...(object.kind === "ControlPlane" && { spec: { ...object.spec, bootstrapAPIKeys: true } }),
  }));
  const plane = await pipecd.environment.until(
    ControlPlane,
    at("controlplane-sample"),
    has("Ready", "False", "SecretAccessDenied"),
  );
  expect(conditionOf(plane)?.message).toContain(`denrei opt-in ${namespace}`);
});

test("the permissions suffice for the whole life of the objects", async () => {
  const { environment } = pipecd;
  await grant(environment.client, optInManifests(separateAccounts(ours), [namespace], platform));
  for (const kind of stackKinds)
    for (const { metadata } of await environment.list(kind, namespace))
      await pipecd.touch(kind, at(metadata.name));
  // The sample has only one of the two stores.
  await pipecd.apply("l0", namespace, (object) => (object.kind === Mongo.kind ? object : undefined));
  await environment.until(Mongo, at("mongo-sample"), has("Ready", "True"));
  await environment.until(Application, at("application-sample"), has("Ready", "True"));
  await environment.until(ControlPlane, at("controlplane-sample"), has("APIKeysReady", "True"));
  const event = { name: "image", projectID: "quickstart", insecure: true, source: { data: "v1" } };
  await environment.client.create(
    EventRegistration,
    {
      ...{ apiVersion: apiVersionOf(EventRegistration), kind: EventRegistration.kind },
      ...{ metadata: at("image"), spec: event },
    },
    { fieldManager: "test" },
  );
  await environment.until(EventRegistration, at("image"), has("Registered", "True"));
  await environment.client.delete(EventRegistration, at("image"), {});
  // Delete the control plane last: the other objects call its server during their deletion.
  for (const kind of stackKinds.toReversed() as readonly Kind[])
    for (const { metadata } of await environment.list(kind, namespace))
      await environment.client.delete(kind, at(metadata.name), {});
  for (const kind of stackKinds as readonly Kind[])
    for (const { metadata } of await environment.list(kind, namespace))
      await environment.untilGone(kind, at(metadata.name));
  const roles = (await environment.client.list(ClusterRole)).items.map(({ metadata }) => metadata.name);
  expect(roles.filter((name) => name.includes(`:${namespace}:`))).toEqual([]);
  const calls = pipecd.pods.plane(namespace).calls.map(({ method }) => method);
  expect(calls).toEqual(expect.arrayContaining(["DisablePiped", "DeleteApplication"]));
  const asked = await auditedRequests(environment.platform);
  const writers = asked.filter(({ right }) => /^(create|patch) /.test(right)).map(({ user }) => user);
  expect(new Set(writers)).toEqual(new Set(ours.map((fn) => accountUser(workloadName(fn)))));
  // They were denied Secrets until the namespace was opted in.
  expect(asked.filter(({ refused, right }) => refused !== "no" && right !== "get secrets")).toEqual([]);
});
