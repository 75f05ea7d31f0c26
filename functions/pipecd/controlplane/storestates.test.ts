import { expect, test } from "vitest";
import type { Condition, Stored } from "../../../bus/kube/object.ts";
import type { Context } from "../../../bus/worker/function.ts";
import type { ControlPlane } from "../kinds.ts";
import { storesOf } from "./storestates.ts";

const plane = (mongoUrl: string, endpoint: string): Stored<ControlPlane> => ({
  apiVersion: "pipecd.kanatakita.com/v1alpha1",
  kind: "ControlPlane",
  metadata: { name: "cp", namespace: "ns", uid: "u", resourceVersion: "1" },
  spec: {
    version: "v0.9.0",
    config: {
      datastore: { mongoDBConfig: { url: mongoUrl, database: "d" } },
      filestore: { minioConfig: { endpoint, bucket: "bucket", accessKeyFile: "/a", secretKeyFile: "/s" } },
    },
  },
});

const ready = (status: Condition["status"]) => ({ type: "Ready", status, message: "the message of Ready" });
interface Found {
  /** Conditions by `<Kind> <name>`. */
  readonly stores?: Readonly<Record<string, readonly object[]>>;
  readonly services?: readonly string[];
}
async function conditionsOf(object: Stored<ControlPlane>, { stores = {}, services = [] }: Found) {
  const ctx = {
    read: {
      get: async ({ kind }: { kind: string }, name: string) => {
        const conditions = stores[`${kind} ${name}`];
        return conditions && { metadata: { name }, status: { conditions } };
      },
    },
    live: {
      get: async ({ kind }: { kind: string }, name: string) =>
        kind === "Service" && services.includes(name) ? { metadata: { name } } : undefined,
    },
  } as unknown as Context;
  const { conditions } = await storesOf(object, ctx);
  return conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
}

const here = plane("mongodb://m-mongo:27017/d", "http://m-minio:9000");
const away = plane("mongodb://db.example.com", "https://s3.example.com");

test.each<readonly [string, Stored<ControlPlane>, Found, readonly string[]]>([
  [
    "both are ready",
    here,
    { stores: { "Mongo m": [ready("True")], "Minio m": [ready("True")] } },
    ["DatastoreReady True Ready", "FilestoreReady True Ready"],
  ],
  [
    "one is not ready, and the other has no conditions",
    here,
    { stores: { "Mongo m": [ready("False")], "Minio m": [] } },
    ["DatastoreReady False NotReady", "FilestoreReady False NotReady"],
  ],
  [
    "a store is not ready although its Service exists",
    here,
    { stores: { "Mongo m": [ready("Unknown")], "Minio m": [ready("True")] }, services: ["m-mongo"] },
    ["DatastoreReady False NotReady", "FilestoreReady True Ready"],
  ],
  ["neither exists", here, {}, ["DatastoreReady False NotFound", "FilestoreReady False NotFound"]],
  [
    "stores of another kind or name do not count",
    here,
    { stores: { "Mysql m": [ready("True")], "Minio n": [ready("True")] }, services: ["n-mongo"] },
    ["DatastoreReady False NotFound", "FilestoreReady False NotFound"],
  ],
  [
    "a Service without a store object counts as external",
    here,
    { services: ["m-mongo", "m-minio"] },
    ["DatastoreReady True External", "FilestoreReady True External"],
  ],
  [
    "both are outside of the namespace",
    away,
    {},
    ["DatastoreReady True External", "FilestoreReady True External"],
  ],
])("%s", async (_, object, found, expected) => {
  expect(await conditionsOf(object, found)).toEqual(expected);
});
