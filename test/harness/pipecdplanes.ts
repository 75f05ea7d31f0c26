/** Edits of PipeCD's stores and control planes. */
import { beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { ConfigMap, Secret } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { StatefulSet } from "../../bus/kube/workloads.ts";
import { Application, ControlPlane, Minio, Mongo, Mysql, Piped } from "../../functions/pipecd/kinds.ts";
import { configKeys } from "../../functions/pipecd/names.ts";
import {
  DeploymentKind,
  digestOf,
  type EditedStacks,
  imageOf,
  names,
  partDigests,
  polling,
  type Stack,
} from "./pipecdstack.ts";

let c: Stack;
let l0: Stack;

const part = (stack: Stack, name: string) => stack.get(DeploymentKind, `${names.plane}-${name}`);
const storeImage = async (stack: Stack, name: string) =>
  ((await stack.get(StatefulSet, name)) as unknown as Parameters<typeof imageOf>[0]).spec.template.spec
    .containers[0]?.image;

/** Declares the tests of stores and control planes. */
export function planeTests(stacks: () => EditedStacks): void {
  beforeAll(() => {
    ({ c, l0 } = stacks());
  });
  storeTests();
  replicaTests();
  projectTests();
  versionTests();
  mountTests();
}

function storeTests(): void {
  test.each([
    { kind: Minio, name: names.minio, set: "minio-sample-minio", image: "minio/minio", of: () => c },
    { kind: Mysql, name: names.mysql, set: "mysql-sample-mysql", image: "mysql", of: () => c },
    { kind: Mongo, name: names.mongo, set: "mongo-sample-mongo", image: "mongo", of: () => l0 },
  ])(
    "rolls the pod of a $kind.kind for another version, and everything becomes ready again",
    async (store) => {
      const stack = store.of();
      await stack.edit(store.kind as typeof Minio, store.name, { version: "edited-1" });
      await stack.ready(store.kind as typeof Minio, store.name);
      expect(await storeImage(stack, store.set)).toBe(`${store.image}:edited-1`);
      await stack.ready(ControlPlane, names.plane);
      await stack.ready(Application, names.application);
    },
  );
}

function replicaTests(): void {
  test("scales each part to the configured replicas, also to none", async () => {
    await c.edit(ControlPlane, names.plane, { replicasGateway: 2, replicasServer: 3 });
    const { status } = await c.ready(
      ControlPlane,
      names.plane,
      ({ status }) => status?.availableServerReplicas === 3,
    );
    expect(status).toMatchObject({
      availableGatewayReplicas: 2,
      availableServerReplicas: 3,
      availableCacheReplicas: 1,
      availableOpsReplicas: 1,
    });
    await c.edit(ControlPlane, names.plane, { replicasServer: 0, replicasOps: 0 });
    const none = await c.refused(ControlPlane, names.plane, "ScaledToZero");
    expect(none).toContain("server, ops");
    await c.edit(ControlPlane, names.plane, {
      replicasGateway: null,
      replicasServer: null,
      replicasOps: null,
    });
    const again = await c.ready(ControlPlane, names.plane);
    expect(again.status).toMatchObject({
      availableGatewayReplicas: 1,
      availableServerReplicas: 1,
      availableOpsReplicas: 1,
    });
    await c.ready(Application, names.application);
  });
}

function projectTests(): void {
  test("rolls server and ops only, for another project in the configuration, which is then usable", async () => {
    const before = await partDigests(c);
    const { config } = (await c.get(ControlPlane, names.plane)).spec;
    const revision = async () => (await c.get(ControlPlane, names.plane)).status?.serverRevision;
    const former = await revision();
    await c.edit(ControlPlane, names.plane, {
      config: { projects: [...(config.projects ?? []), { id: "third" }] },
    });
    await c.ready(ControlPlane, names.plane);
    // For another revision, workers close their connections to the former pod.
    expect(await revision()).not.toBe(former);
    const after = await partDigests(c);
    expect(Object.keys(after).filter((name) => after[name] !== before[name])).toEqual(["server", "ops"]);
    const { data } = (await c.get(ConfigMap, "pipecd")) as KubeObject & { data: Record<string, string> };
    expect(
      parse(data[configKeys.controlPlane] ?? "").spec.projects.map(({ id }: { id: string }) => id),
    ).toEqual(["quickstart", "second", "third"]);
    await expect
      .poll(async () => (await c.console("third")).pipeds.list().then((list) => list.length), polling)
      .toBe(0);
    await c.ready(Application, names.application);
  });
}

function versionTests(): void {
  test("pulls server and ops of v0.57.1 from the other repository", async () => {
    expect(imageOf(await part(c, "server"))).toBe("ghcr.io/pipe-cd/pipecd:v0.57.0");
    await c.edit(ControlPlane, names.plane, { version: "v0.57.1" });
    await c.ready(ControlPlane, names.plane);
    for (const name of ["server", "ops"])
      expect(imageOf(await part(c, name))).toBe("ghcr.io/pipe-cd/controlplane:v0.57.1");
    await c.ready(Application, names.application);
  });

  test("rolls the pod of a piped for another version", async () => {
    await c.edit(Piped, names.piped, { version: "v0.57.1" });
    await c.ready(Piped, names.piped);
    expect(imageOf(await c.get(DeploymentKind, names.piped))).toBe("ghcr.io/pipe-cd/piped:v0.57.1");
  });

  test("rejects an Envoy version that cannot read the configuration, and keeps the pods", async () => {
    await c.edit(ControlPlane, names.plane, { envoyVersion: "v1.10.0" });
    const message = await c.refused(ControlPlane, names.plane, "EnvoyVersionNotSupported");
    expect(message).toContain("v1.18.0 or later");
    expect(imageOf(await part(c, "gateway"))).toBe("envoyproxy/envoy:v1.31.0");
    await c.edit(ControlPlane, names.plane, { envoyVersion: "v1.32.1" });
    await c.ready(ControlPlane, names.plane);
    expect(imageOf(await part(c, "gateway"))).toBe("envoyproxy/envoy:v1.32.1");
    await c.edit(ControlPlane, names.plane, { redisVersion: "7.0.15" });
    await c.ready(ControlPlane, names.plane);
    expect(imageOf(await part(c, "cache"))).toBe("redis:7.0.15");
  });
}

function mountTests(): void {
  test("rolls server and ops for changed content of a mounted Secret, also in a new volume", async () => {
    await c.ready(ControlPlane, names.plane);
    const before = await partDigests(c);
    await c.patch(Secret, "secret-minio", { stringData: { "minio-secret-key": "another-secret-key" } });
    await c.until(DeploymentKind, `${names.plane}-server`, (found) => digestOf(found) !== before.server);
    await c.ready(ControlPlane, names.plane);
    const after = await partDigests(c);
    expect(Object.keys(after).filter((name) => after[name] !== before[name])).toEqual(["server", "ops"]);

    await c.create(ConfigMap, {
      kind: "ConfigMap",
      metadata: { name: "extra" },
      data: { file: "one" },
    } as never);
    const { volumeMounts = [] } = (await c.get(ControlPlane, names.plane)).spec;
    const extra = { mountPath: "/mnt/extra", volume: { name: "extra", configMap: { name: "extra" } } };
    await c.edit(ControlPlane, names.plane, { volumeMounts: [...volumeMounts, extra] });
    await c.ready(ControlPlane, names.plane);
    const mounted = await partDigests(c);
    expect(mounted.server).not.toBe(after.server);
    expect(JSON.stringify(await part(c, "gateway"))).toContain("/mnt/extra");
    await c.patch(ConfigMap, "extra", { data: { file: "two" } });
    await c.until(DeploymentKind, `${names.plane}-server`, (found) => digestOf(found) !== mounted.server);
    await c.ready(ControlPlane, names.plane);
  });
}
