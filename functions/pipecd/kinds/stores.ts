/** Minio, Mongo, and Mysql: stores of a control plane, for trials. */
import { defineKind, type ObjectOf, z } from "denrei/kinds";
import { version as apiVersion, category, group, secretKeys } from "../names.ts";
import {
  age,
  conditions,
  count,
  observedGeneration,
  ready,
  secretSource,
  serviceName,
  storage,
  version,
} from "./fields.ts";

/** A StatefulSet adds a digest of ten characters to its name in a label of its pods. */
const rules = serviceName(46);
const replicas = count.optional().describe("Ignored: there is always one pod.");
const status = z.object({
  availableReplicas: count.optional().describe("Number of available pods."),
  observedGeneration,
  conditions: conditions("Ready: the pod is available."),
});
const columns = [
  { name: "Version", type: "string", jsonPath: ".spec.version" },
  { name: "Available", type: "integer", jsonPath: ".status.availableReplicas" },
  ready,
  age,
] as const;

/** An object store with the S3 API, for a control plane's files. */
export const Minio = defineKind({
  group,
  version: apiVersion,
  kind: "Minio",
  description: "An object store with the S3 API, for a control plane's files. For trials only.",
  shortNames: ["pminio"],
  categories: [category],
  rules,
  spec: z.object({
    replicas,
    version: version.optional().describe("Tag of the image. Default: RELEASE.2020-08-26T00-00-49Z."),
    secret: secretSource.describe(
      `Secret with the credentials, under ${secretKeys.minioAccessKey} and ${secretKeys.minioSecretKey}.`,
    ),
    storage: storage.optional(),
  }),
  status,
  columns,
});
export type Minio = ObjectOf<typeof Minio>;

/** A document store, for control planes up to v0.12.0. */
export const Mongo = defineKind({
  group,
  version: apiVersion,
  kind: "Mongo",
  plural: "mongoes",
  description: "A document store, for control planes up to v0.12.0. For trials only.",
  shortNames: ["pmongo"],
  categories: [category],
  rules,
  spec: z.object({
    replicas,
    version: version.optional().describe('Tag of the image. Default: "4.2".'),
    storage: storage.optional(),
  }),
  status,
  columns,
});
export type Mongo = ObjectOf<typeof Mongo>;

/** A relational database, for control planes from v0.37.1. */
export const Mysql = defineKind({
  group,
  version: apiVersion,
  kind: "Mysql",
  description: "A relational database, for control planes from v0.37.1. For trials only.",
  shortNames: ["pmysql"],
  categories: [category],
  rules,
  spec: z.object({
    replicas,
    version: version.optional().describe('Tag of the image. Default: "8.0.33".'),
    secret: secretSource
      .optional()
      .describe(
        `Secret with the root password, under ${secretKeys.mysqlRootPassword}. Without it, the password is test, which is suitable only for trials.`,
      ),
    database: z
      .string()
      .regex(/^[0-9A-Za-z_]+$/, "expected a database name of letters, digits, and _")
      .max(64)
      .optional()
      .describe("Name of the database to create. Default: quickstart."),
    storage: storage.optional(),
  }),
  status,
  columns,
});
export type Mysql = ObjectOf<typeof Mysql>;
