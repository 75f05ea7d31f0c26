import { expect, test } from "vitest";
import type { Kind } from "../../../bus/kube/kind.ts";
import type { KubeObject } from "../../../bus/kube/object.ts";
import type { Context, ReconcileFunction } from "../../../bus/worker/function.ts";
import minio from "../minio.ts";
import mongo from "../mongo.ts";
import mysql from "../mysql.ts";

interface Container {
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly object[];
  readonly ports: readonly { readonly containerPort: number }[];
  readonly readinessProbe: object;
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}
interface Made {
  readonly metadata: KubeObject["metadata"];
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly [Container] };
    };
  };
}

/** The StatefulSet of a store whose Secret has the given data. */
async function setOf(
  store: ReconcileFunction,
  spec: object,
  data: Record<string, string> = {},
): Promise<Made> {
  const made: Made[] = [];
  const ctx = {
    key: { namespace: "ns", name: "m" },
    live: { get: async () => ({ metadata: { name: "s" }, data }) },
    read: { get: async () => undefined },
    apply: async (kind: Kind, object: Made) => {
      if (kind.kind === "StatefulSet") made.push(object);
      return object;
    },
    status: async () => undefined,
  } as unknown as Context;
  const object = {
    apiVersion: "v1alpha1",
    kind: "Store",
    metadata: { name: "m", uid: "u", resourceVersion: "1" },
    spec,
  };
  await store.reconcile(object, ctx);
  const [set, ...others] = made;
  if (set === undefined || others.length > 0)
    throw new Error(`expected one StatefulSet, found ${made.length}`);
  return set;
}
const containerOf = async (...args: Parameters<typeof setOf>) =>
  (await setOf(...args)).spec.template.spec.containers[0];

const from = (name: string, key: string) => ({ name, valueFrom: { secretKeyRef: { name: "s", key } } });
const credentials = { "minio-access-key": "YQ==", "minio-secret-key": "cw==" };
const secret = { secretName: "s" };

test("Minio serves /data, with the credentials in its old and new environment variables", async () => {
  const container = await containerOf(minio, { secret }, credentials);
  expect(container).toMatchObject({
    image: "minio/minio:RELEASE.2020-08-26T00-00-49Z",
    args: ["server", "/data"],
    ports: [{ containerPort: 9000 }],
    readinessProbe: { httpGet: { path: "/minio/health/ready", port: 9000 } },
    volumeMounts: [{ mountPath: "/data" }],
  });
  expect(new Set(container.env)).toEqual(
    new Set([
      from("MINIO_ACCESS_KEY", "minio-access-key"),
      from("MINIO_SECRET_KEY", "minio-secret-key"),
      from("MINIO_ROOT_USER", "minio-access-key"),
      from("MINIO_ROOT_PASSWORD", "minio-secret-key"),
    ]),
  );
});

test.each(["minio-access-key", "minio-secret-key"])("does not start Minio without %s", async (key) => {
  const { [key]: _, ...rest } = credentials as Record<string, string>;
  await expect(setOf(minio, { secret }, rest)).rejects.toMatchObject({
    reason: "SecretInvalid",
    message: expect.stringContaining(key),
  });
});

test("Mongo stores its data in /data/db, and has no environment variables", async () => {
  const container = await containerOf(mongo, {});
  expect(container).toMatchObject({
    image: "mongo:4.2",
    ports: [{ containerPort: 27017 }],
    readinessProbe: { tcpSocket: { port: 27017 } },
    volumeMounts: [{ mountPath: "/data/db" }],
  });
  expect(container).not.toHaveProperty("env");
  expect(container).not.toHaveProperty("args");
});

test("Mysql creates its database at startup", async () => {
  expect(await containerOf(mysql, {})).toMatchObject({
    image: "mysql:8.0.33",
    env: [
      { name: "MYSQL_ROOT_PASSWORD", value: "test" },
      { name: "MYSQL_DATABASE", value: "quickstart" },
    ],
    ports: [{ containerPort: 3306 }],
    volumeMounts: [{ mountPath: "/var/lib/mysql" }],
  });
  const other = await containerOf(mysql, { secret, database: "pipecd" }, { "mysql-root-password": "cA==" });
  expect(other.env).toEqual([
    from("MYSQL_ROOT_PASSWORD", "mysql-root-password"),
    { name: "MYSQL_DATABASE", value: "pipecd" },
  ]);
});

test("spec.version sets the image tag", async () => {
  expect((await containerOf(minio, { secret, version: "1" }, credentials)).image).toBe("minio/minio:1");
  expect((await containerOf(mongo, { version: "4.4" })).image).toBe("mongo:4.4");
  expect((await containerOf(mysql, { version: "8.4" })).image).toBe("mysql:8.4");
});

test("a change of the credentials rolls the pod", async () => {
  const digestOf = async (data: Record<string, string>) =>
    (await setOf(minio, { secret }, data)).spec.template.metadata.annotations[
      "pipecd.kanatakita.com/content-digest"
    ];
  const before = await digestOf(credentials);
  expect(await digestOf({ ...credentials })).toBe(before);
  expect(await digestOf({ ...credentials, "minio-secret-key": "bw==" })).not.toBe(before);
});
