/** Invalid control planes: a condition reports the reason, running pods stay, and a correction recovers. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConfigMap, type Kind, Secret } from "../../bus/kube/kind.ts";
import { Deployment, Service, StatefulSet } from "../../bus/kube/workloads.ts";
import { Application, ControlPlane, Minio } from "../../functions/pipecd/kinds.ts";
import { configKeys } from "../../functions/pipecd/names.ts";
import { type Pipecd, sample, startPipecd } from "../harness/pipecd.ts";
import { corrected, DeploymentKind, emptyStack, imageOf, names, type Stack } from "../harness/pipecdstack.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

let pipecd: Pipecd;
beforeAll(async () => {
  pipecd = await startPipecd();
});
afterAll(() => pipecd?.stop());

const any = (kind: unknown) => kind as Kind;
const deploymentsIn = async (stack: Stack) =>
  (await stack.list(Deployment)).map(({ metadata }) => metadata.name).sort();
const specOf = (kind: string, profile: "l0" | "c" = "c") =>
  sample(profile).find((object) => object.kind === kind)?.spec;

test("rejects an unsupported configuration or version, also in a later edit, and keeps running pods", async () => {
  const stack = await emptyStack(pipecd, "refused-version");
  const { datastore } = specOf("ControlPlane", "l0").config;
  await pipecd.apply("c", stack.namespace, (object) =>
    object.kind === "ControlPlane"
      ? { ...object, spec: { ...object.spec, config: { ...object.spec.config, datastore } } }
      : corrected(object),
  );
  const message = await stack.refused(any(ControlPlane), names.plane, "ConfigInvalid");
  expect(message).toContain("v0.12.0");
  await pipecd.untilQuiet();
  expect(await stack.list(Deployment)).toEqual([]);
  // This version is between the profiles.
  await stack.edit(any(ControlPlane), names.plane, { version: "v0.12.0" });
  const ranges = /v0\.8\.0 to v0\.9\.0, or v0\.37\.1 and later/;
  expect(await stack.refused(any(ControlPlane), names.plane, "VersionNotSupported")).toMatch(ranges);
  await pipecd.untilQuiet();
  expect(await stack.list(Deployment)).toEqual([]);
  const datastoreOfC = specOf("ControlPlane").config.datastore;
  await stack.edit(any(ControlPlane), names.plane, {
    version: "v0.57.0",
    config: { datastore: { ...datastoreOfC, mongoDBConfig: null } },
  });
  await stack.ready(Application, names.application);

  const before = (await stack.list(Deployment)).map(({ spec }) => spec);
  const registered = stack.server().calls.length;
  await stack.edit(any(ControlPlane), names.plane, { version: "v0.30.0" });
  expect(await stack.refused(any(ControlPlane), names.plane, "VersionNotSupported")).toMatch(ranges);
  await pipecd.untilQuiet();
  expect((await stack.list(Deployment)).map(({ spec }) => spec)).toEqual(before);
  expect(stack.server().isUp).toBe(true);
  expect(
    stack
      .server()
      .calls.slice(registered)
      .filter(({ method }) => /^(Register|Add|Delete|Disable)/.test(method)),
  ).toEqual([]);
  await stack.edit(any(ControlPlane), names.plane, { version: "v0.57.0" });
  await stack.ready(ControlPlane, names.plane);
  await stack.ready(Application, names.application);
});

describe("a ControlPlane", () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await emptyStack(pipecd, "refused-stores");
  });

  test("creates server and ops when both stores are ready, reports the missing one, and creates the rest at once", async () => {
    const only = (...kinds: string[]) =>
      pipecd.apply("c", stack.namespace, (object) => (kinds.includes(object.kind) ? object : undefined));
    await only("Secret", "ControlPlane");
    expect(await stack.refused(any(ControlPlane), names.plane, "DatastoreNotReady")).toContain(
      "expected the Mysql mysql-sample, or a Service mysql-sample-mysql, found neither",
    );
    const waiting = ["controlplane-sample-cache", "controlplane-sample-gateway"];
    await pipecd.untilQuiet();
    expect(await deploymentsIn(stack)).toEqual(waiting);
    await only("Mysql");
    expect(await stack.refused(any(ControlPlane), names.plane, "FilestoreNotReady")).toContain("Minio");
    await pipecd.untilQuiet();
    expect(await deploymentsIn(stack)).toEqual(waiting);
    expect(conditionOf(await stack.get(ControlPlane, names.plane), "DatastoreReady")?.status).toBe("True");
    await only("Minio");
    await stack.ready(ControlPlane, names.plane);
    expect(await deploymentsIn(stack)).toEqual([
      ...waiting,
      "controlplane-sample-ops",
      "controlplane-sample-server",
    ]);
  });

  test("waits for an older one, names it, and takes over when that is deleted", async () => {
    await stack.ready(ControlPlane, names.plane);
    // Of two that were created within a second, the one whose name sorts later counts as younger.
    await stack.create(any(ControlPlane), {
      ...{ kind: "ControlPlane", metadata: { name: "younger" } },
      spec: { ...specOf("ControlPlane"), version: "v0.57.1" },
    });
    const message = await stack.refused(any(ControlPlane), "younger", "AnotherControlPlane");
    expect(message).toContain(`ControlPlane ${names.plane}`);
    await stack.ready(ControlPlane, names.plane);
    await pipecd.untilQuiet();
    expect((await deploymentsIn(stack)).filter((name) => name.startsWith("younger"))).toEqual([]);

    await stack.delete(any(ControlPlane), names.plane);
    await stack.untilGone(any(ControlPlane), names.plane);
    await stack.ready(ControlPlane, "younger");
    expect(imageOf(await stack.get(DeploymentKind, "younger-server"))).toContain(":v0.57.1");
    const config = await stack.get(ConfigMap, "pipecd");
    expect(config.metadata.ownerReferences).toMatchObject([{ kind: "ControlPlane", name: "younger" }]);
  });
});

test("a Minio waits for its Secret with all keys, and a Service of an existing database can replace a store", async () => {
  const stack = await emptyStack(pipecd, "refused-secret");
  const ports = [{ port: 3306, protocol: "TCP" }];
  await stack.create(any(Service), {
    ...{ kind: "Service", metadata: { name: "mysql-sample-mysql" } },
    spec: { type: "ClusterIP", ports },
  });
  await pipecd.apply("c", stack.namespace, (object) =>
    ["Secret", "Mysql"].includes(object.kind) ? undefined : corrected(object),
  );
  const missing = await stack.refused(any(Minio), names.minio, "SecretNotFound");
  expect(missing).toContain("Secret secret-minio");
  expect(missing).toContain("minio-access-key and minio-secret-key");
  expect(await stack.refused(any(ControlPlane), names.plane, "SecretNotFound")).toContain("secret-minio");
  const data = { "minio-access-key": btoa("quickstart-access-key") };
  await stack.create(any(Secret), { kind: "Secret", metadata: { name: "secret-minio" }, data } as never);
  const found = await stack.refused(any(Minio), names.minio, "SecretInvalid");
  expect(found).toContain("has no minio-secret-key");
  expect(found).not.toContain("minio-access-key");
  await pipecd.untilQuiet();
  expect(await stack.list(StatefulSet)).toEqual([]);
  await stack.patch(any(Secret), "secret-minio", {
    data: { "minio-secret-key": btoa("quickstart-secret-key") },
  });
  await stack.ready(Minio, names.minio);
  await stack.ready(Application, names.application);
  const plane = await stack.get(ControlPlane, names.plane);
  expect(conditionOf(plane, "DatastoreReady")).toMatchObject({ status: "True", reason: "External" });
});

test("a Minio without storage uses an ephemeral volume and reports its pods", async () => {
  const stack = await emptyStack(pipecd, "refused-storage");
  const [secret] = sample("c");
  if (secret) await stack.create(any(Secret), secret);
  await stack.create(any(Minio), {
    ...{ kind: "Minio", metadata: { name: names.minio } },
    spec: { replicas: 3, secret: { secretName: "secret-minio" } },
  });
  const store = await stack.ready(Minio, names.minio);
  expect(store.status?.availableReplicas).toBe(1);
  expect(has("Ready", "True", "Available")(store)).toBe(true);
  const { spec } = (await stack.get(StatefulSet, "minio-sample-minio")) as unknown as {
    spec: {
      replicas: number;
      template: { spec: { volumes: object[]; containers: { volumeMounts: object[] }[] } };
    };
  };
  expect(spec.replicas).toBe(1);
  expect(spec.template.spec.volumes).toEqual([{ name: "volume", emptyDir: {} }]);
  expect(spec.template.spec.containers[0]?.volumeMounts).toHaveLength(1);
});

describe("the configuration of a ControlPlane", () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await emptyStack(pipecd, "refused-config");
  });
  const { config } = specOf("ControlPlane");
  const create = (name: string, changed: object) =>
    stack.create(any(ControlPlane), {
      ...{ kind: "ControlPlane", metadata: { name } },
      spec: { version: "v0.57.0", config: { ...config, ...changed } },
    });
  const withMinio = (fields: object) => ({
    filestore: { minioConfig: { ...config.filestore.minioConfig, ...fields } },
  });

  test.each([
    ["a time that Go cannot hold", { cache: { ttl: "9999999999h" } }, "expected at most 9000000000 seconds"],
    ["a time beyond the most seconds", { cache: { ttl: "2500001h" } }, "expected at most 9000000000 seconds"],
    ["an endpoint without a scheme", withMinio({ endpoint: "m:9000" }), "expected an address with a scheme"],
    [
      "a schedule of six fields",
      { insightCollector: { deployment: { schedule: "0 0 * * * *" } } },
      "expected five cron fields",
    ],
  ])("is rejected by the API server with %s", async (_, changed, message) => {
    await expect(create("wrong", changed)).rejects.toThrow(message);
  });

  test("accepts times, endpoints, and schedules that PipeCD can read", async () => {
    await create("right", {
      cache: { ttl: "2499999h" },
      ...withMinio({ endpoint: "HTTPS://minio.example.com" }),
      insightCollector: {
        application: { schedule: "CRON_TZ=UTC 0 9 * * mon-fri" },
        deployment: { schedule: "@every 1h30m" },
      },
    });
    await stack.delete(any(ControlPlane), "right");
    await stack.untilGone(any(ControlPlane), "right");
  });

  test("may lack both stores, which the condition names, and may have two login blocks", async () => {
    const client = { clientId: "i", clientSecret: "s" };
    const sharedSSOConfigs = [{ name: "sso", github: client, google: client }];
    await create(names.plane, { datastore: undefined, filestore: undefined, sharedSSOConfigs });
    const message = await stack.refused(any(ControlPlane), names.plane, "ConfigInvalid");
    expect(message).toContain("spec.config.datastore is required and has no default: mysqlConfig");
    expect(message).toContain("spec.config.filestore is required and has no default: minioConfig");
    await pipecd.apply("c", stack.namespace, (object) =>
      ["Secret", "Minio", "Mysql"].includes(object.kind) ? object : undefined,
    );
    await stack.edit(any(ControlPlane), names.plane, {
      config: { datastore: config.datastore, filestore: config.filestore },
      volumeMounts: specOf("ControlPlane").volumeMounts,
    });
    const plane = await stack.ready(ControlPlane, names.plane);
    expect(conditionOf(plane, "Ready")?.message).toContain("sharedSSOConfigs[0].google");
    expect((await stack.get(ConfigMap, "pipecd")).data?.[configKeys.controlPlane]).not.toContain("google");
  });
});
