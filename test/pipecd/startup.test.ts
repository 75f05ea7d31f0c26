/** PipeCD's simulated programs exit for the same configurations as the real ones. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { crashOf, type Started } from "../../deploy/simulators/pipecd/startup.ts";
import { checkedFields, type FieldName } from "./parser/fields.ts";
import type { Question } from "./parser/parser.ts";
import { recorded } from "./parser/recorded.ts";
import { checkedValues, notInImages } from "./parser/values.ts";

/** The last log line of the first program that exits. */
function crash(question: Question): string | undefined {
  if ("mongodb" in question) {
    const config = { datastore: { type: "MONGODB", config: { url: question.mongodb, database: "d" } } };
    return crashOf({ program: "ops", profile: "L0", config: file("ControlPlane", config) });
  }
  const { kind } = JSON.parse(question.text) as { kind: string };
  const programs = kind === "Piped" ? (["piped"] as const) : (["server", "ops"] as const);
  return programs
    .map((program) => crashOf({ program, profile: "C", config: question.text }))
    .find((problem) => problem !== undefined);
}

const file = (kind: string, spec: object): string =>
  stringify({ apiVersion: "pipecd.dev/v1beta1", kind, spec });

/** Fields that prevent a start. Programs start with a wrong login URL; only the login fails. */
const startFields = (Object.keys(checkedFields) as FieldName[]).filter((name) => name !== "loginURL");

test.each(startFields)("%s: exits for the recorded values", (name) => {
  const record = recorded()[name];
  const exits = checkedValues[name].filter((value) => crash(checkedFields[name].ask(value)) !== undefined);
  expect(exits).toEqual(checkedValues[name].filter((value) => record[value] || notInImages[value]));
});

const minio = { endpoint: "http://m:9000", bucket: "bucket", accessKeyFile: "/a", secretKeyFile: "/s" };
const plane = {
  datastore: { type: "MYSQL", config: { url: "u:p@tcp(m:3306)", database: "d" } },
  filestore: { type: "MINIO", config: minio },
};
const started = (more: Partial<Started> & { readonly spec?: object }): Started => ({
  ...{ program: "server", profile: "C", config: file("ControlPlane", { ...plane, ...more.spec }) },
  ...more,
});

test.each<readonly [string, Started, string]>([
  ["an unknown field", started({ spec: { foo: 1 } }), 'json: unknown field "foo"'],
  ["MongoDB", started({ spec: { datastore: { type: "MONGODB" } } }), 'unknown datastore type "MONGODB"'],
  ["no datastore", started({ spec: { datastore: undefined } }), 'unknown datastore type ""'],
  ["no filestore", started({ spec: { filestore: {} } }), 'unknown filestore type ""'],
  [
    "an encryption key of 31 bytes",
    started({ encryptionKey: Buffer.alloc(31) }),
    "key size (31) must be greater than or equal to 32",
  ],
  [
    "another version",
    started({ config: file("ControlPlane", plane).replace("v1beta1", "v1") }),
    "unsupported version: pipecd.dev/v1",
  ],
  [
    "a login without its provider",
    started({ spec: { sharedSSOConfigs: [{ name: "sso", github: {} }] } }),
    "panic: interface conversion: interface {} is nil, not string",
  ],
])("they exit for %s", (_, program, words) => {
  expect(crashOf(program)).toBe(words);
});

test.each([
  ["C", "c-controlplane"],
  ["C", "c-controlplane-full"],
  ["L0", "l0-controlplane"],
  ["L0", "l0-controlplane-full"],
] as const)("server and ops of %s run with %s", (profile, golden) => {
  const config = readFileSync(new URL(`./golden/${golden}.yaml`, import.meta.url), "utf8");
  for (const program of ["server", "ops"] as const)
    expect(crashOf({ program, profile, config })).toBeUndefined();
});

test.each([
  ["C", "c-piped"],
  ["C", "c-piped-full"],
  ["L0", "l0-piped"],
  ["L0", "l0-piped-full"],
] as const)("an agent of %s runs with %s", (profile, golden) => {
  const config = readFileSync(new URL(`./golden/${golden}.yaml`, import.meta.url), "utf8");
  expect(crashOf({ program: "piped", profile, config })).toBeUndefined();
});

const agent = { projectID: "p", pipedID: "i", pipedKeyFile: "/k", apiAddress: "a", webAddress: "w" };
test.each<readonly [string, object, string]>([
  ["no address", { apiAddress: "" }, "apiAddress must be set"],
  ["Google Cloud KMS", { secretManagement: { type: "GCP_KMS" } }, 'type "GCP_KMS" is not implemented yet'],
  [
    "a route to nowhere",
    { notifications: { routes: [{ name: "r", receiver: "x" }] } },
    "missing receiver x that is used in route r",
  ],
])("an agent exits for %s", (_, fields, words) => {
  const config = file("Piped", { ...agent, ...fields });
  expect(crashOf({ program: "piped", profile: "C", config })).toBe(words);
});
