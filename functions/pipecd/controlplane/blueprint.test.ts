import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { ControlPlane } from "../kinds.ts";
import { blueprintOf, profileOfPlane } from "./blueprint.ts";

type Spec = ControlPlane["spec"];

const minioConfig = { endpoint: "http://m:9000", bucket: "bucket", accessKeyFile: "/a", secretKeyFile: "/s" };
const mongo = {
  datastore: { mongoDBConfig: { url: "mongodb://m", database: "d" } },
  filestore: { minioConfig },
};
const mysql = { datastore: { mysqlConfig: { url: "u@tcp(m)", database: "d" } }, filestore: { minioConfig } };
const old: Spec = { version: "v0.9.0", config: mongo };
const current: Spec = { version: "v0.57.0", config: mysql };

const blueprint = (spec: Spec) =>
  blueprintOf(
    { metadata: { name: "cp", namespace: "ns" }, spec },
    { secrets: "secrets", datastoreSince: undefined },
  );

test.each([
  ["L0", "MONGODB", old],
  ["C", "MYSQL", current],
])("the version selects the profile %s, with %s", (profile, type, spec) => {
  const made = blueprint(spec);
  expect(profileOfPlane({ spec })).toBe(profile);
  expect(made).toMatchObject({ profile, secrets: "secrets" });
  expect(parse(made.config)).toMatchObject({ kind: "ControlPlane", spec: { datastore: { type } } });
  expect(made.envoy).toContain("cp-server");
});

describe("throws, and leaves existing objects unchanged, when", () => {
  test.each<readonly [string, Spec, reason: string, message: string]>([
    ["the version has no profile", { ...old, version: "v0.12.0" }, "VersionNotSupported", "v0.12.0"],
    ["the version is invalid", { ...old, version: "latest" }, "VersionNotSupported", "latest"],
    [
      "Envoy is too old for a new PipeCD",
      { ...current, envoyVersion: "v1.10.0" },
      "EnvoyVersionNotSupported",
      "v1.10.0",
    ],
    [
      "Envoy is too new for an old PipeCD",
      { ...old, envoyVersion: "v1.31.0" },
      "EnvoyVersionNotSupported",
      "v1.31.0",
    ],
    [
      "a new PipeCD has a MongoDB",
      { ...current, config: mongo },
      "ConfigInvalid",
      "mongoDBConfig needs PipeCD v0.12.0 or older",
    ],
    ["an old PipeCD has a MySQL", { ...old, config: mysql }, "ConfigInvalid", "mysqlConfig"],
    ["an old PipeCD has TLS", { ...old, tls: { secretName: "s" } }, "ConfigInvalid", "spec.tls"],
    [
      "an old PipeCD has API keys",
      { ...old, bootstrapAPIKeys: true },
      "ConfigInvalid",
      "spec.bootstrapAPIKeys",
    ],
  ])("%s", (_, spec, reason, message) => {
    expect(() => blueprint(spec)).toThrow(
      expect.objectContaining({ name: "BlockedError", reason, message: expect.stringContaining(message) }),
    );
    expect(() => blueprint(spec)).toThrow("Running pods are unchanged.");
  });
});

test("the gateway uses TLS to the server only with spec.tls", () => {
  expect(blueprint(current).envoy).not.toContain("/etc/pipecd-tls");
  expect(blueprint({ ...current, tls: { secretName: "s" } }).envoy).toContain("/etc/pipecd-tls/ca.crt");
});
