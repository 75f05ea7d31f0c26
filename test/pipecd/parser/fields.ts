/** Fields that PipeCD validates at start: their place in its file, and Denrei's validation. */

import { checkObject, InvalidObjectError } from "../../../bus/kube/kind.ts";
import { mongoProblem } from "../../../functions/pipecd/config/mongourl.ts";
import { durationOf } from "../../../functions/pipecd/config/rendering.ts";
import { ConfigError, controlPlaneConfig, pipedConfig } from "../../../functions/pipecd/config.ts";
import { ControlPlane, type Duration, Piped } from "../../../functions/pipecd/kinds.ts";
import type { Question } from "./parser.ts";

/** A validated field. */
export interface CheckedField {
  /** The configuration to test with PipeCD, written without the code under test. */
  ask(value: string): Question;
  /** Denrei's error for the object with the value; undefined if it is valid. */
  problemOf(value: string): string | undefined;
}

const minioConfig = {
  endpoint: "http://m:9000",
  bucket: "bucket",
  accessKeyFile: "/a",
  secretKeyFile: "/s",
};
const mysqlConfig = { url: "u:p@tcp(m:3306)", database: "d" };
const plane = { datastore: { mysqlConfig }, filestore: { minioConfig } };
const planeFile = {
  datastore: { type: "MYSQL", config: mysqlConfig },
  filestore: { type: "MINIO", config: { ...minioConfig, autoCreateBucket: true } },
};
const piped = { apiAddress: "pipecd:8080", webAddress: "http://pipecd" };
const ours = { projectID: "p", pipedID: "i", pipedKeyFile: "/k" };

/** ASCII JSON is valid YAML, whatever its strings contain. */
const file = (kind: string, spec: object): Question => ({
  text: JSON.stringify({ apiVersion: "pipecd.dev/v1beta1", kind, spec }).replaceAll(
    /[\x7f-\ud7ff\ue000-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  ),
});

/** Renders an object: PipeCD's file, or Denrei's error. */
export function rendered(
  kind: "ControlPlane" | "Piped",
  spec: object,
): { readonly text: string; readonly problem?: never } | { readonly problem: string } {
  const object = { kind, spec } as never;
  try {
    return {
      text:
        kind === "Piped"
          ? pipedConfig((checkObject(Piped as never, object) as Piped).spec, "C", { pipedID: "i" })
          : controlPlaneConfig((checkObject(ControlPlane as never, object) as ControlPlane).spec, "C"),
    };
  } catch (error) {
    if (error instanceof ConfigError || error instanceof InvalidObjectError)
      return { problem: error.message };
    throw error;
  }
}

const ofPlane = (fileOf: (value: string) => object, objectOf: (value: string) => object): CheckedField => ({
  ask: (value) => file("ControlPlane", { ...planeFile, ...fileOf(value) }),
  problemOf: (value) =>
    rendered("ControlPlane", { version: "v0.57.0", config: { ...plane, ...objectOf(value) } }).problem,
});

const ofPiped = (fieldsOf: (value: string) => object): CheckedField => ({
  ask: (value) => file("Piped", { ...ours, ...piped, ...fieldsOf(value) }),
  problemOf: (value) =>
    rendered("Piped", {
      ...{ version: "v0.57.0", name: "n", description: "d", projectID: "p" },
      config: { ...piped, ...fieldsOf(value) },
    }).problem,
});

const ofMysql = (fieldsOf: (value: string) => object): CheckedField =>
  ofPlane(
    (value) => ({ datastore: { type: "MYSQL", config: fieldsOf(value) } }),
    (value) => ({ datastore: { mysqlConfig: fieldsOf(value) } }),
  );
const login = { name: "login" };
const client = { clientId: "i", clientSecret: "s" };
const userFiles = { usernameFile: "/u", passwordFile: "/p" };

/** Fields by their name in the record. */
export const checkedFields = {
  schedule: ofPlane(
    (schedule) => ({ insightCollector: { deployment: { schedule } } }),
    (schedule) => ({ insightCollector: { deployment: { schedule } } }),
  ),
  endpoint: ofPlane(
    (endpoint) => ({ filestore: { type: "MINIO", config: { ...minioConfig, endpoint } } }),
    (endpoint) => ({ filestore: { minioConfig: { ...minioConfig, endpoint } } }),
  ),
  bucket: ofPlane(
    (bucket) => ({
      filestore: { type: "MINIO", config: { ...minioConfig, bucket, autoCreateBucket: true } },
    }),
    (bucket) => ({ filestore: { minioConfig: { ...minioConfig, bucket } } }),
  ),
  mysqlURL: ofMysql((url) => ({ url })),
  mysqlURLWithDatabase: ofMysql((url) => ({ url, database: "d" })),
  mysqlURLWithFiles: ofMysql((url) => ({ url, database: "d", ...userFiles })),
  mysqlDatabase: ofMysql((database) => ({ ...mysqlConfig, database })),
  ttl: ofPlane(
    (ttl) => ({ cache: { ttl: durationOf(ttl as Duration) } }),
    (ttl) => ({ cache: { ttl } }),
  ),
  syncInterval: ofPiped((syncInterval) => ({ syncInterval })),
  gitPassword: ofPiped((password) => ({ git: { username: "u", password } })),
  sshKeyData: ofPiped((sshKeyData) => ({ git: { sshKeyData } })),
  loginURL: ofPlane(
    (baseUrl) => ({ sharedSSOConfigs: [{ ...login, provider: "GITHUB", github: { ...client, baseUrl } }] }),
    (baseUrl) => ({ sharedSSOConfigs: [{ ...login, github: { ...client, baseUrl } }] }),
  ),
  mongoURL: {
    ask: (mongodb: string) => ({ mongodb }),
    problemOf: mongoProblem,
  },
} satisfies Record<string, CheckedField>;

/** Name of a field. */
export type FieldName = keyof typeof checkedFields;
