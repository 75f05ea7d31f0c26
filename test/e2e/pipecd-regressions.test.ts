/**
 * What went wrong in pipecd-operator and must not happen again. Each row is tested here, or where the table says:
 *
 * | Row | What must not happen | Where |
 * | --- | --- | --- |
 * | 1 | fields of the custom resources rename themselves as they are stored | here; `functions/pipecd/kinds.test.ts` |
 * | 2 | Firestore is called FILESTORE | here; `functions/pipecd/config/controlplane.test.ts` |
 * | 3 | lengths of time are bare integers, which PipeCD reads as nanoseconds | here; `functions/pipecd/config/piped.test.ts` |
 * | 4 | a login has no provider | here; `functions/pipecd/config/controlplane.test.ts` |
 * | 5 | a key is in a process alone, or another piped's | here; `test/faults/pipecd-kills.test.ts` |
 * | 6 | "I could not look" is taken for "it is not there" | `test/faults/pipecd-away.test.ts`: "while the datastore is away …" |
 * | 7 | something is made at PipeCD before the finalizer is there | here |
 * | 8 | finalizers of others are lost, or junk is stored | here |
 * | 9 | a write after a status update fails | here: conflicts would show as failed reconciles |
 * | 10 | an error of one part vanishes, and others go on as if nothing were | `test/e2e/pipecd-refused.test.ts`: "makes server and ops when …" |
 * | 11 | each reconcile opens a connection and leaves it open | here |
 * | 12 | without `insecure` nothing is ever dialled, and that is called success | here; with certificates: `test/e2e/pipecd-auth.test.ts` |
 * | 13 | defaults of the API server are fought, and a NodePort changes | here |
 * | 14 | Secrets are written each time | here |
 * | 15 | two Pipeds select each other's pods | here; two ControlPlanes: `test/e2e/pipecd-refused.test.ts`: "waits for an elder one …" |
 * | 16 | there is one ControlPlane for the whole cluster | here |
 * | 17 | the encryption key is a public constant | `test/e2e/pipecd-keys.test.ts`: "the Secret pipecd that is deleted …" |
 * | 18 | pods keep a configuration that is not theirs any more | `test/e2e/pipecd-edits.test.ts`: "another project …", "the content of a mounted Secret …" |
 * | 19 | volumes are not mounted, stores without fields end the process, replicas and status are ignored | `test/e2e/pipecd-refused.test.ts`: "a Minio without storage …"; `test/e2e/pipecd-edits.test.ts`: "replicas of each part …" |
 * | 20 | another name leaves the former one behind, enabled | `test/e2e/pipecd-edits.test.ts`: "v0.9.0: a piped with another name …", "… an Environment with another name …" |
 * | 21 | roles of two namespaces are one, and stay for ever | here; `test/e2e/pipecd-deletion.test.ts` |
 * | 22 | what is being deleted is made again, because of somebody else's finalizer | here |
 * | 23 | Events have `%!d(string=…)` in them | here |
 * | 24 | the repository does not build what it ships | no test of its own: CRDs, roles and manifests are generated, and `npm test` compares them, applies them, and type-checks all that there is |
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { ConfigMap, type Kind, Secret } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { ClusterRole, ClusterRoleBinding } from "../../bus/kube/rbac.ts";
import { Deployment, Service } from "../../bus/kube/workloads.ts";
import { Application, ControlPlane, Environment, Piped } from "../../functions/pipecd/kinds.ts";
import { configKeys } from "../../functions/pipecd/names.ts";
import { type Pipecd, sample, stackKinds, startPipecd } from "../harness/pipecd.ts";
import {
  corrected,
  emptyStack,
  enabledApplications,
  enabledPipeds,
  keyOf,
  names,
  patience,
  type Stack,
  sideBySide,
  startStack,
} from "../harness/pipecdstack.ts";
import { Event } from "../harness/world.ts";

let pipecd: Pipecd;
let one: Stack;
let two: Stack;
beforeAll(async () => {
  pipecd = await startPipecd();
  [one, two] = await Promise.all([startStack(pipecd, "c", "one"), startStack(pipecd, "l0", "two")]);
}, sideBySide.timeout);
afterAll(() => pipecd?.stop());

const any = (kind: unknown) => kind as Kind;
const dataOf = async (stack: Stack, name: string, key: string) => {
  const { data } = (await stack.get(ConfigMap, name)) as KubeObject & { data: Record<string, string> };
  return parse(data[key] ?? "").spec;
};

test("fields of objects are not renamed as they are stored (1)", async () => {
  for (const [profile, stack] of [
    ["c", one],
    ["l0", two],
  ] as const)
    for (const object of sample(profile)) {
      const kind = stackKinds.find((found) => found.kind === object.kind);
      if (kind) expect((await stack.get(kind, object.metadata.name)).spec).toEqual(corrected(object).spec);
    }
});

test("types, lengths of time and logins are what PipeCD reads, in what pods have (2, 3, 4)", async () => {
  const stack = await emptyStack(pipecd, "rendered");
  // The configuration is there before the stores are ready.
  await pipecd.apply("c", stack.namespace, (object) => {
    if (object.kind !== "ControlPlane") return object.kind === "Secret" ? object : undefined;
    const { config } = object.spec;
    const sso = { github: { clientId: "id", clientSecret: "secret" } };
    return {
      ...object,
      spec: {
        ...object.spec,
        config: {
          ...config,
          datastore: { firestoreConfig: { namespace: "pipecd", environment: "test", project: "p" } },
          sharedSSOConfigs: [{ name: "github", ...sso }],
        },
      },
    };
  });
  await stack.refused(any(ControlPlane), names.plane, "FilestoreNotReady");
  const plane = await dataOf(stack, "pipecd", configKeys.controlPlane);
  expect(plane.datastore.type).toBe("FIRESTORE");
  expect(plane.sharedSSOConfigs).toMatchObject([{ name: "github", provider: "GITHUB" }]);
  expect((await dataOf(one, names.piped, configKeys.piped)).syncInterval).toBe("60s");
});

test("two Pipeds have a key, a role and pods of their own each, which no other one has or selects (5, 15)", async () => {
  const { spec } = await one.get(Piped, names.piped);
  const before = await keyOf(one);
  await one.create(any(Piped), {
    ...{ kind: "Piped", metadata: { name: "second" } },
    spec: { ...spec, name: "second" },
  });
  await one.ready(Piped, "second");
  await pipecd.untilQuiet();
  expect(await keyOf(one)).toEqual(before);
  expect((await keyOf(one, "second")).key).not.toBe(before.key);
  const labelsOf = async (name: string) =>
    ((await one.get(Deployment, name)).spec as { template: { metadata: { labels: object } } }).template
      .metadata.labels;
  for (const [name, other] of [
    [names.piped, "second"],
    ["second", names.piped],
  ] as const) {
    const { selector } = (await one.get(Service, name)).spec as { selector: object };
    expect(await labelsOf(name)).toMatchObject(selector);
    expect(await labelsOf(other)).not.toMatchObject(selector);
  }
  await one.delete(any(Piped), "second");
  await one.untilGone(any(Piped), "second");
});

test("no key is lost with the process that has it: workers that start anew go on (5)", async () => {
  const before = await keyOf(one);
  for (const worker of pipecd.workers) await worker.kill();
  for (const worker of pipecd.workers) await worker.start();
  await one.edit(any(Piped), names.piped, { description: "after the workers" });
  await one.ready(Piped, names.piped);
  expect(await keyOf(one)).toEqual(before);
  expect(enabledPipeds(one)).toMatchObject([{ description: "after the workers", keys: 1 }]);
});

test("finalizers are there before anything is made at PipeCD, and those of others make nothing come back (7, 8, 22)", async () => {
  const stack = await emptyStack(pipecd, "finalizers");
  const theirs = "example.com/theirs";
  const isLate = ({ kind }: { readonly kind: string }) => ["Piped", "Application"].includes(kind);
  await pipecd.apply("c", stack.namespace, (object) => {
    if (isLate(object)) return undefined;
    if (object.kind !== "ControlPlane") return object;
    return { ...object, metadata: { ...object.metadata, finalizers: [theirs] } as never };
  });
  await stack.ready(ControlPlane, names.plane);
  const held = stack.server().hold("RegisterPiped");
  await pipecd.apply("c", stack.namespace, (object) =>
    isLate(object)
      ? {
          ...corrected(object),
          metadata: { ...object.metadata, ...(object.kind === "Piped" && { finalizers: [theirs] }) },
        }
      : undefined,
  );
  const call = await held.arrived;
  expect(call.code).toBe(0);
  const piped = await stack.get(Piped, names.piped);
  expect(piped.metadata.finalizers?.toSorted()).toEqual(["denrei.dev/pipecd-piped", theirs]);
  expect(piped.status?.pipedID).toBeUndefined();
  held.release();
  await stack.ready(Application, names.application);
  expect(Object.keys(await stack.get(Piped, names.piped)).sort()).toEqual(
    ["apiVersion", "kind", "metadata", "spec", "status"].sort(),
  );

  // An object whose finalizer a user removes is gone while it is finalized: that is no failed reconcile (9).
  const ending = stack.server().hold("DeleteApplication");
  await stack.delete(any(Application), names.application);
  await ending.arrived;
  await stack.patch(any(Application), names.application, { metadata: { finalizers: [] } });
  await stack.untilGone(any(Application), names.application);
  ending.release();

  await stack.delete(any(Piped), names.piped);
  const leaving = await stack.until(
    Piped,
    names.piped,
    ({ metadata }) => metadata.finalizers?.length === 1 && metadata.finalizers[0] === theirs,
  );
  expect(leaving.metadata.deletionTimestamp).toBeDefined();
  expect(enabledPipeds(stack)).toEqual([]);
  await expect
    .poll(async () => (await stack.list(Deployment)).map(({ metadata }) => metadata.name), patience)
    .not.toContain(names.piped);
  // Somebody else's finalizer is none of our business: nothing is made again (22).
  await pipecd.kit.client.mergePatch(
    Piped,
    stack.at(names.piped),
    { metadata: { annotations: { touched: "yes" } } },
    { fieldManager: "test" },
  );
  await pipecd.untilQuiet();
  expect((await stack.list(Deployment)).map(({ metadata }) => metadata.name)).not.toContain(names.piped);
  expect(stack.calls("RegisterPiped")).toHaveLength(1);
  await stack.patch(any(Piped), names.piped, { metadata: { finalizers: [] } });
  await stack.untilGone(any(Piped), names.piped);

  // The same holds for a ControlPlane.
  await stack.delete(any(Environment), names.environment);
  await stack.untilGone(any(Environment), names.environment);
  await stack.delete(any(ControlPlane), names.plane);
  await stack.until(ControlPlane, names.plane, ({ metadata }) => metadata.finalizers?.length === 1);
  const service = `${names.plane}-cache`;
  await stack.delete(any(Service), service);
  await stack.patch(any(ControlPlane), names.plane, { metadata: { annotations: { touched: "yes" } } });
  await pipecd.untilQuiet();
  expect((await stack.list(Service)).map(({ metadata }) => metadata.name)).not.toContain(service);
  await stack.patch(any(ControlPlane), names.plane, { metadata: { finalizers: [] } });
  await stack.untilGone(any(ControlPlane), names.plane);
});

test("a stack comes up without one failed reconcile, and is looked at again without a write or a call (9, 13, 14)", async () => {
  const stacks = [one, two];
  // PipeCD is asked now, and so not again for a minute.
  for (const stack of stacks) {
    await stack.edit(any(Piped), names.piped, { description: "asked now" });
    await stack.ready(Piped, names.piped, ({ status }) => status?.registered?.description === "asked now");
  }
  await pipecd.untilQuiet();
  const failed = pipecd.workers
    .flatMap(({ log }) => log.records())
    .filter(({ msg }) => msg === "reconcile failed")
    .map(({ key, err }) => `${key}: ${(err as Error).message}`);
  // Somebody else may have changed an object meanwhile: that is no error.
  expect(failed.filter((text) => !text.includes("409"))).toEqual([]);
  const look = async () => ({
    secrets: await Promise.all(stacks.map((stack) => stack.list(Secret))),
    services: await Promise.all(stacks.map((stack) => stack.list(Service))),
    deployments: (await Promise.all(stacks.map((stack) => stack.list(Deployment)))).flat(),
  });
  const before = await look();
  const [writes, calls] = [await pipecd.writes(), stacks.map(callsOfWorkers)];
  const changes = await pipecd.changes();
  for (const { namespace } of stacks)
    expect(changes.filter(({ subject }) => subject.includes(`.${namespace}.`)).length).toBeGreaterThan(15);
  await pipecd.replay(changes);
  await pipecd.untilQuiet();
  expect(await look()).toEqual(before);
  expect(await pipecd.writes()).toBe(writes);
  expect(stacks.map(callsOfWorkers)).toEqual(calls);
});

const callsOfWorkers = ({ namespace }: Stack): number => pipecd.pods.callsOfWorkers(namespace);

test("a NodePort that was given stays, whatever is edited (13)", async () => {
  const port = async () =>
    ((await one.get(Service, "pipecd")).spec as { ports: { nodePort: number }[] }).ports[0]?.nodePort;
  const before = await port();
  expect(before).toBeGreaterThan(0);
  await one.edit(any(ControlPlane), names.plane, { replicasServer: 2 });
  await one.ready(ControlPlane, names.plane);
  await one.patch(any(Service), "pipecd", { metadata: { labels: { "example.com/mine": "yes" } } });
  await one.edit(any(ControlPlane), names.plane, { replicasServer: null });
  await one.ready(ControlPlane, names.plane);
  expect(await port()).toBe(before);
  expect((await one.get(Service, "pipecd")).metadata.labels?.["example.com/mine"]).toBe("yes");
});

test("workers have one connection to a server, however often they ask (11)", async () => {
  // The servers of all namespaces are behind one port: those of this test, and of the one about finalizers.
  const ports = pipecd.workers.length * 3;
  const before = one.server().calls.length;
  for (const provider of ["a", "b", "c", "d", "e", "f"]) {
    await one.edit(any(Application), names.application, { cloudProvider: provider });
    await one.ready(Application, names.application);
  }
  expect(one.server().calls.length - before).toBeGreaterThan(6);
  await expect.poll(() => pipecd.pods.connections(), patience).toBeLessThanOrEqual(ports);
});

test("without `insecure` the server is dialled with TLS, and one that has none is told of (12)", async () => {
  await two.edit(any(Application), names.application, { insecure: false, path: "kubernetes/simple" });
  expect(await two.refused(any(Application), names.application, "TLSMismatch")).toContain("SSL");
  await two.edit(any(Application), names.application, { insecure: true });
  await two.ready(Application, names.application);
  expect(enabledApplications(two)).toMatchObject([{ path: "kubernetes/simple" }]);
});

test("each namespace has its own control plane, and objects of one name in two of them share nothing (16, 21)", async () => {
  expect(one.server()).not.toBe(two.server());
  expect([one.server().profile, two.server().profile]).toEqual(["C", "L0"]);
  expect(enabledPipeds(one)).toHaveLength(1);
  expect(enabledPipeds(two)).toHaveLength(1);
  expect((await keyOf(one)).key).not.toBe((await keyOf(two)).key);
  for (const kind of [any(ClusterRole), any(ClusterRoleBinding)]) {
    const found = (await pipecd.kit.client.list(kind)).items.map(({ metadata }) => metadata.name);
    expect(found).toContain(`pipecd:one:${names.piped}`);
    expect(found).toContain(`pipecd:two:${names.piped}`);
  }
  await two.delete(any(Application), names.application);
  await two.delete(any(Piped), names.piped);
  await two.untilGone(any(Piped), names.piped);
  const role = { name: `pipecd:two:${names.piped}` };
  for (const kind of [any(ClusterRole), any(ClusterRoleBinding)]) await pipecd.kit.untilGone(kind, role);
  await pipecd.kit.client.get(ClusterRole, { name: `pipecd:one:${names.piped}` });
  await one.ready(Application, names.application);
});

test("Events say what they mean (23)", async () => {
  const { items } = await pipecd.kit.client.list(Event);
  const ours = items.filter(({ regarding }) =>
    [Piped, Environment, Application, ControlPlane].some(({ kind }) => kind === regarding.kind),
  );
  expect(ours.length).toBeGreaterThan(3);
  expect(ours.map(({ note }) => note).filter((note) => /%!|\[object|undefined|NaN/.test(note))).toEqual([]);
});
