import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ControlPlane } from "../kinds.ts";
import { datastoreOf, filestoreOf, isUsed, type StoreKind, storeAt } from "./usedstores.ts";

type Config = ControlPlane["spec"]["config"];

const minioConfig = { bucket: "bucket", accessKeyFile: "/a", secretKeyFile: "/s" };
const planeOf = (config: Partial<Config>): ControlPlane => ({
  apiVersion: "pipecd.kanatakita.com/v1alpha1",
  kind: "ControlPlane",
  metadata: { name: "cp", namespace: "ns" },
  spec: { version: "v0.57.0", config: { datastore: {}, filestore: {}, ...config } },
});
const withMongo = (url: string) => planeOf({ datastore: { mongoDBConfig: { url, database: "d" } } });
const withMysql = (url: string) => planeOf({ datastore: { mysqlConfig: { url, database: "d" } } });
const withMinio = (endpoint: string) => planeOf({ filestore: { minioConfig: { ...minioConfig, endpoint } } });

describe("MongoDB's address", () => {
  test.each([
    "mongodb://m-mongo",
    "mongodb://m-mongo:27017",
    "mongodb://m-mongo:27017/quickstart",
    "mongodb://m-mongo/?replicaSet=r",
    "mongodb://user:p%40ss@m-mongo:27017/quickstart",
    "mongodb://user@m-mongo",
    "mongodb://m-mongo:27017,other-mongo:27017/quickstart",
    "mongodb://m-mongo,other.example.com",
    "mongodb://m-mongo.ns:27017",
    "mongodb://m-mongo.ns.svc:27017",
    "mongodb://m-mongo.ns.svc.cluster.local:27017/d",
    "mongodb://m-mongo.ns.svc.cluster.local.:27017/d",
    "mongodb+srv://m-mongo.ns.svc.cluster.local/d",
  ])("%s is the Mongo m of the namespace", (url) => {
    expect(datastoreOf(withMongo(url))).toEqual({ kind: "mongo", name: "m" });
  });

  test.each([
    "",
    "mongodb://",
    "mongodb://m:27017",
    "mongodb://-mongo",
    "mongodb://m-mongo.other:27017",
    "mongodb://m-mongo.other.svc.cluster.local",
    "mongodb://m-mongo.ns2.svc",
    "mongodb://m-mongo.ns.example.com",
    "mongodb://m-mongo.ns.svcs.example.com",
    "mongodb://m-mongo.example.com",
    "mongodb://m-mongodb",
    "mongodb://10.0.0.1:27017/m-mongo",
    "mongodb://m-mongo:secret@db.example.com",
  ])("%s is not a store of the namespace", (url) => {
    expect(datastoreOf(withMongo(url))).toBeUndefined();
  });
});

describe("MySQL's address", () => {
  test.each([
    "root:test@tcp(m-mysql:3306)",
    "root:test@tcp(m-mysql:3306)/",
    "root:te@st@tcp(m-mysql)",
    "root@tcp(m-mysql.ns:3306)",
    "tcp(m-mysql.ns.svc:3306)",
    "root:te:st@tcp(m-mysql.ns.svc.cluster.local:3306)",
    "m-mysql:3306",
    "m-mysql.ns.svc:3306",
  ])("%s is the Mysql m of the namespace", (url) => {
    expect(datastoreOf(withMysql(url))).toEqual({ kind: "mysql", name: "m" });
  });

  test.each([
    "",
    "root:test@tcp(m:3306)",
    "root:test@tcp(m-mysql.other:3306)",
    "root:test@tcp(m-mysql.ns.svcs.example.com:3306)",
    "root:test@tcp(10.0.0.1:3306)",
    "root:test@tcp([2001:db8::1]:3306)",
    "root:test@unix(/run/m-mysql)",
    "m-mysql.other:3306",
  ])("%s is not a store of the namespace", (url) => {
    expect(datastoreOf(withMysql(url))).toBeUndefined();
  });
});

describe("Minio's address", () => {
  test.each([
    "http://m-minio:9000",
    "https://m-minio.ns.svc",
    "http://m-minio.ns:9000/",
    "HTTP://m-minio:9000",
  ])("%s is the Minio m of the namespace", (endpoint) => {
    expect(filestoreOf(withMinio(endpoint))).toEqual({ kind: "minio", name: "m" });
  });

  test.each(["http://m-minio.other:9000", "https://s3.example.com", "https://minio"])(
    "%s is not a store of the namespace",
    (endpoint) => {
      expect(filestoreOf(withMinio(endpoint))).toBeUndefined();
    },
  );
});

test("cloud services are not stores of the namespace", () => {
  const plane = planeOf({
    datastore: { firestoreConfig: { namespace: "n", environment: "e", project: "p" } },
    filestore: { gcsConfig: { bucket: "bucket" } },
  });
  expect([datastoreOf(plane), filestoreOf(plane)]).toEqual([undefined, undefined]);
});

test("a control plane uses the stores whose addresses it has", () => {
  const datastore = { mongoDBConfig: { url: "mongodb://m-mongo", database: "d" } };
  const filestore = { minioConfig: { ...minioConfig, endpoint: "http://m-minio:9000" } };
  const plane = planeOf({ datastore, filestore });
  const used = (kind: StoreKind, name: string) => isUsed(plane, { kind, name });
  expect([used("mongo", "m"), used("minio", "m"), used("mysql", "m"), used("mongo", "n")]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

const name = fc.stringMatching(/^[a-z]([-a-z0-9]{0,40}[a-z0-9])?$/);
const awkward = fc.constantFrom("minio", "a-mongo", "mongo-mysql", "x-minio-minio", "a--b");

test("finds a store of any name at its own address, and in no other namespace", () => {
  const kind = fc.constantFrom<StoreKind>("minio", "mongo", "mysql");
  const suffix = fc.constantFrom("", "here", "svc", "svc.cluster.local");
  fc.assert(
    fc.property(fc.oneof(name, awkward), kind, name, name, suffix, (store, of, here, there, domain) => {
      const host = (namespace: string) =>
        domain === "" || domain === "here"
          ? `${store}-${of}.${namespace}`
          : `${store}-${of}.${namespace}.${domain}`;
      const address = domain === "" ? `${store}-${of}` : host(here);
      const metadata = { name: "cp", namespace: here };
      expect(storeAt(address, metadata)).toEqual({ kind: of, name: store });
      if (there !== here) expect(storeAt(host(there), metadata)).toBeUndefined();
      const plane = { ...withMongo(`mongodb://u:p@${address}:1/d`), metadata };
      expect(datastoreOf(plane)).toEqual({ kind: of, name: store });
      expect(datastoreOf({ ...withMysql(`u:p@tcp(${address}:1)`), metadata })).toEqual({
        kind: of,
        name: store,
      });
    }),
  );
});
