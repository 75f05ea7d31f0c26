/**
 * Bugs of pipecd-operator that must not recur. Each row is tested here or in the named file:
 *
 * | Row | What must not happen | Where |
 * | --- | --- | --- |
 * | 1 | the API server renames fields of stored custom resources | here; `functions/pipecd/kinds.test.ts` |
 * | 2 | Firestore is called FILESTORE | here; `functions/pipecd/config/controlplane.test.ts` |
 * | 3 | durations are bare integers, which PipeCD reads as nanoseconds | here; `functions/pipecd/config/piped.test.ts` |
 * | 4 | a login has no provider | here; `functions/pipecd/config/controlplane.test.ts` |
 * | 5 | a key exists only in a process, or belongs to another piped | here; `test/faults/pipecd-kills.test.ts` |
 * | 6 | a failed read is taken for a missing object | `test/faults/pipecd-away.test.ts`: "while the datastore is away …" |
 * | 7 | PipeCD objects are created before the finalizer is set | here |
 * | 8 | finalizers of others are lost, or invalid data is stored | here |
 * | 9 | a write after a status update fails | here: conflicts would show as failed reconciles |
 * | 10 | an error of one part is swallowed, and others continue | `test/e2e/pipecd-refused.test.ts`: "creates server and ops when …" |
 * | 11 | each reconcile leaks a connection | here |
 * | 12 | without `insecure` no call is made, and the reconcile reports success | here; with certificates: `test/e2e/pipecd-auth.test.ts` |
 * | 13 | defaults of the API server are reverted, and a NodePort changes | here |
 * | 14 | Secrets are written each time | here |
 * | 15 | two Pipeds select each other's pods | here; two ControlPlanes: `test/e2e/pipecd-refused.test.ts`: "waits for an older one …" |
 * | 16 | there is one ControlPlane for the whole cluster | here |
 * | 17 | the encryption key is a public constant | `test/e2e/pipecd-keys.test.ts`: "recreates a deleted Secret pipecd …" |
 * | 18 | pods keep an outdated configuration | `test/e2e/pipecd-edits.test.ts`: "rolls server and ops only, for another project …", "rolls server and ops for changed content …" |
 * | 19 | volumes are not mounted, stores without fields crash the process, replicas and status are ignored | `test/e2e/pipecd-refused.test.ts`: "a Minio without storage …"; `test/e2e/pipecd-edits.test.ts`: "scales each part …" |
 * | 20 | a rename leaves the former object behind, enabled | `test/e2e/pipecd-edits.test.ts`: "v0.9.0: replaces a renamed piped …", "v0.9.0: replaces a renamed Environment …" |
 * | 21 | two namespaces share roles, which are never deleted | here; `test/e2e/pipecd-deletion.test.ts` |
 * | 22 | an object under deletion is recreated because of another client's finalizer | here |
 * | 23 | Events contain `%!d(string=…)` | here |
 * | 24 | the repository does not build what it ships | no separate test: CRDs, roles, and manifests are generated, and `npm test` compares, applies, and type-checks them |
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
  polling,
  type Stack,
  sideBySide,
  startStack,
} from "../harness/pipecdstack.ts";
import { Event } from "../ket/event.ts";

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

test("does not rename fields of stored objects (1)", async () => {
  for (const [profile, stack] of [
    ["c", one],
    ["l0", two],
  ] as const)
    for (const object of sample(profile)) {
      const kind = stackKinds.find((found) => found.kind === object.kind);
      if (kind) expect((await stack.get(kind, object.metadata.name)).spec).toEqual(corrected(object).spec);
    }
});

test("writes types, durations, and logins for pods as PipeCD reads them (2, 3, 4)", async () => {
  const stack = await emptyStack(pipecd, "rendered");
  // The configuration exists before the stores are ready.
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

test("two Pipeds have their own keys, roles, and pods, which no other one has or selects (5, 15)", async () => {
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

test("loses no key with the process that holds it: restarted workers continue (5)", async () => {
  const before = await keyOf(one);
  for (const worker of pipecd.workers) await worker.kill();
  for (const worker of pipecd.workers) await worker.start();
  await one.edit(any(Piped), names.piped, { description: "after the workers" });
  await one.ready(Piped, names.piped);
  expect(await keyOf(one)).toEqual(before);
  expect(enabledPipeds(one)).toMatchObject([{ description: "after the workers", keys: 1 }]);
});

test("sets finalizers before it creates anything in PipeCD, and ignores those of others (7, 8, 22)", async () => {
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

  // An object whose finalizer a user removes disappears while it is finalized: that is no failed reconcile (9).
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
    .poll(async () => (await stack.list(Deployment)).map(({ metadata }) => metadata.name), polling)
    .not.toContain(names.piped);
  // Another client's finalizer does not matter: nothing is created again (22).
  await pipecd.environment.client.mergePatch(
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

  // The same applies to a ControlPlane.
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

test("a stack starts without a failed reconcile, and is reconciled again without a write or a call (9, 13, 14)", async () => {
  const stacks = [one, two];
  // PipeCD was called now, and so is not called again for a minute.
  for (const stack of stacks) {
    await stack.edit(any(Piped), names.piped, { description: "asked now" });
    await stack.ready(Piped, names.piped, ({ status }) => status?.registered?.description === "asked now");
  }
  await pipecd.untilQuiet();
  const failed = pipecd.workers
    .flatMap(({ log }) => log.records())
    .filter(({ msg }) => msg === "reconcile failed")
    .map(({ key, err }) => `${key}: ${(err as Error).message}`);
  // Another client may have changed an object meanwhile: that is no error.
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

test("keeps an allocated NodePort through all edits (13)", async () => {
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

test("workers share one connection per server, however often they call it (11)", async () => {
  // The servers of all namespaces share one port: those of this test, and of the one about finalizers.
  const ports = pipecd.workers.length * 3;
  const before = one.server().calls.length;
  for (const provider of ["a", "b", "c", "d", "e", "f"]) {
    await one.edit(any(Application), names.application, { cloudProvider: provider });
    await one.ready(Application, names.application);
  }
  expect(one.server().calls.length - before).toBeGreaterThan(6);
  await expect.poll(() => pipecd.pods.connections(), polling).toBeLessThanOrEqual(ports);
});

test("calls the server with TLS unless `insecure` is set, and reports a server without it (12)", async () => {
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
    const found = (await pipecd.environment.client.list(kind)).items.map(({ metadata }) => metadata.name);
    expect(found).toContain(`pipecd:one:${names.piped}`);
    expect(found).toContain(`pipecd:two:${names.piped}`);
  }
  await two.delete(any(Application), names.application);
  await two.delete(any(Piped), names.piped);
  await two.untilGone(any(Piped), names.piped);
  const role = { name: `pipecd:two:${names.piped}` };
  for (const kind of [any(ClusterRole), any(ClusterRoleBinding)])
    await pipecd.environment.untilGone(kind, role);
  await pipecd.environment.client.get(ClusterRole, { name: `pipecd:one:${names.piped}` });
  await one.ready(Application, names.application);
});

test("Events state their meaning (23)", async () => {
  const { items } = await pipecd.environment.client.list(Event);
  const ours = items.filter(({ regarding }) =>
    [Piped, Environment, Application, ControlPlane].some(({ kind }) => kind === regarding.kind),
  );
  expect(ours.length).toBeGreaterThan(3);
  expect(ours.map(({ note }) => note).filter((note) => /%!|\[object|undefined|NaN/.test(note))).toEqual([]);
});
