import { describe, expect, test } from "vitest";
import type { ControlPlane } from "../kinds.ts";
import { blueprintOf } from "./blueprint.ts";
import type { Component } from "./components.ts";
import { type Blueprint, cache, gateway, givenMounts, ops, server } from "./parts.ts";

const minioConfig = { endpoint: "http://m:9000", bucket: "bucket", accessKeyFile: "/a", secretKeyFile: "/s" };

const planeOf = (more: Partial<ControlPlane["spec"]> = {}): ControlPlane => ({
  apiVersion: "pipecd.kanatakita.com/v1alpha1",
  kind: "ControlPlane",
  metadata: { name: "cp", namespace: "ns" },
  spec: {
    version: "v0.57.0",
    config: { datastore: { mysqlConfig: { url: "u@tcp(m)", database: "d" } }, filestore: { minioConfig } },
    ...more,
  },
});
const mongo = { datastore: { mongoDBConfig: { url: "mongodb://m", database: "d" } } };
const old = { version: "v0.9.0", config: { ...mongo, filestore: { minioConfig } } } as const;

const parts = { gateway, server, cache, ops };
const every = ["gateway", "server", "cache", "ops"] as const;
const partOf = (component: Component, plane: ControlPlane, more: Partial<Blueprint> = {}) =>
  parts[component]({ ...blueprintOf(plane, { secrets: "secrets", datastoreSince: undefined }), ...more });

const given = {
  mountPath: "/mnt/secret",
  readOnly: true,
  subPath: "x",
  volume: { name: "secret", secret: { secretName: "secret-minio" } },
} as const;

describe.each([
  ["v0.9.0", old],
  ["v0.57.0", {}],
])("a volume in spec.volumeMounts of %s", (_, version) => {
  const plane = planeOf({ ...version, volumeMounts: [given] });
  test.each(["gateway", "server", "ops"] as const)("is mounted in the %s", (component) => {
    expect(partOf(component, plane).mounts).toContainEqual(given);
  });
  test("is not mounted in the cache", () => {
    expect(partOf("cache", plane).mounts ?? []).toEqual([]);
  });
});

describe("with TLS", () => {
  const plane = planeOf({ tls: { secretName: "certs" }, volumeMounts: [given] });
  const flags = ["--tls=true", "--cert-file=/etc/pipecd-tls/tls.crt", "--key-file=/etc/pipecd-tls/tls.key"];

  test("the server has flags for certificate and key", () => {
    const without = partOf("server", planeOf()).args ?? [];
    expect(new Set(partOf("server", plane).args)).toEqual(new Set([...without, ...flags]));
    expect(without.filter((arg) => /tls|cert-file|key-file=.*tls/.test(arg))).toEqual([]);
    expect(partOf("server", plane).mounts).toContainEqual({
      volume: { name: "pipecd-tls", secret: { secretName: "certs" } },
      mountPath: "/etc/pipecd-tls",
      readOnly: true,
    });
  });

  test("the gateway mounts the authority without the key", () => {
    expect(partOf("gateway", plane).mounts).toContainEqual({
      volume: {
        name: "pipecd-tls",
        secret: { secretName: "certs", items: [{ key: "ca.crt", path: "ca.crt" }] },
      },
      mountPath: "/etc/pipecd-tls",
      readOnly: true,
    });
  });

  test("ops and cache do not change", () => {
    for (const component of ["ops", "cache"] as const)
      expect(partOf(component, planeOf({ tls: { secretName: "certs" } }))).toEqual(
        partOf(component, planeOf()),
      );
  });

  test("the certificate's Secret is watched in addition to the user's volumes", () => {
    const secrets = givenMounts(plane).map(({ volume }) => volume.secret);
    expect(secrets).toEqual([{ secretName: "secret-minio" }, { secretName: "certs" }]);
    expect(givenMounts(planeOf())).toEqual([]);
  });
});

describe("pods roll", () => {
  type Change = readonly [what: string, more: Partial<Blueprint>, rolled: readonly Component[]];
  const rolledBy = (plane: ControlPlane, more: Partial<Blueprint>) =>
    every.filter((component) => partOf(component, plane).digest !== partOf(component, plane, more).digest);

  test.each<Change>([
    ["the configuration of PipeCD", { config: "other" }, ["server", "ops"]],
    ["the encryption key or the content of volumes", { secrets: "other" }, ["server", "ops"]],
    ["the configuration of Envoy", { envoy: "other" }, ["gateway"]],
    ["nothing", {}, []],
  ])("after a change of %s", (_, more, expected) => {
    expect(rolledBy(planeOf(), more)).toEqual(expected);
    expect(rolledBy(planeOf(old), more)).toEqual(expected);
  });

  test("after a change of certificates, because Envoy reads the authority only at startup", () => {
    const plane = planeOf({ tls: { secretName: "certs" } });
    expect(rolledBy(plane, { secrets: "other" })).toEqual(["gateway", "server", "ops"]);
  });

  test("not after a change of fields that they do not read", () => {
    const before = planeOf();
    const after = planeOf({ replicasServer: 3, redisVersion: "7", bootstrapAPIKeys: true });
    for (const component of every)
      expect(partOf(component, after).digest).toBe(partOf(component, before).digest);
  });

  test("not after a change of the order of fields", () => {
    const { config, ...rest } = planeOf().spec;
    const { datastore, filestore } = config;
    const other: ControlPlane = { ...planeOf(), spec: { config: { filestore, datastore }, ...rest } };
    for (const component of every)
      expect(partOf(component, other).digest).toBe(partOf(component, planeOf()).digest);
  });
});
