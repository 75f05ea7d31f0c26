import { describe, expect, test } from "vitest";
import { crdOf } from "../../../bus/kube/crd.ts";
import { Piped } from "./piped.ts";
import { type Plugin, plugins } from "./plugins.ts";

const wait = { name: "wait", port: 7001, url: "https://plugins.example.com/wait", wait: {} };
const kubernetes = {
  name: "kubernetes",
  port: 7002,
  url: "https://plugins.example.com/kubernetes",
  kubernetes: { deployTargets: [{ name: "local" }] },
};

/** Validation errors of plugins, as `path: message`. */
function problemsOf(...all: readonly object[]): readonly string[] {
  const { error } = plugins.safeParse(all);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
}

test("accepts plugins with every URL scheme", () => {
  const urls = [
    "file:///etc/plugins/wait",
    "https://github.com/pipe-cd/pipecd/releases/download/pkg%2Fplugin/wait_v0.1.1_linux_amd64",
    "https://plugins.example.com:8443/wait?version=1",
    "oci://registry.example.com/plugins/wait:v0.1.1",
    "oci://localhost:5000/wait@sha256:00",
  ];
  for (const url of urls) expect(problemsOf({ ...wait, url })).toEqual([]);
  expect(problemsOf(wait, kubernetes)).toEqual([]);
  expect(problemsOf()).toEqual([]);
});

test.each([
  "",
  "http://plugins.example.com/wait",
  "ftp://plugins.example.com/wait",
  "s3://bucket/wait",
  "plugins.example.com/wait",
  "/etc/plugins/wait",
  "file://etc/plugins/wait",
  "https://plugins.example.com",
  "https:///wait",
  "oci://registry.example.com/",
  "oci:///wait",
  "https://plugins.example.com/a plugin",
])("rejects the url %j", (url) => {
  expect(problemsOf({ ...wait, url })[0]).toMatch(/^0\.url: /);
});

test.each([0, -1, 65_536, 1.5, 9085, 9087])("rejects the port %d", (port) => {
  expect(problemsOf({ ...wait, port })[0]).toMatch(/^0\.port: /);
});

test.each(["", "../wait", "a/b", ".wait", "a b", "x".repeat(64)])("rejects the name %j", (name) => {
  expect(problemsOf({ ...wait, name })[0]).toMatch(/^0\.name: /);
});

describe("rejects two plugins", () => {
  test("with the same name", () => {
    expect(problemsOf(wait, { ...kubernetes, name: "wait" })).toEqual([
      ": expected a unique name for each plugin",
    ]);
  });

  test("with the same port", () => {
    expect(problemsOf(wait, { ...kubernetes, port: 7001 })).toEqual([
      ": expected a unique port for each plugin",
    ]);
  });
});

test.each<readonly [string, object]>([
  ["kubernetes", { kubernetes: { deployTargets: [] } }],
  ["terraform", { terraform: { deployTargets: [] } }],
  ["cloudRun", { cloudRun: { deployTargets: [] } }],
  ["ecs", { ecs: { deployTargets: [] } }],
])("rejects %s without a deploy target", (variant, fields) => {
  const { wait: _, ...rest } = wait;
  expect(problemsOf({ ...rest, ...fields })[0]).toMatch(new RegExp(`^0\\.${variant}\\.deployTargets: `));
});

test.each<readonly [string, object]>([
  ["cloudRun", { cloudRun: { deployTargets: [{ name: "x" }] } }],
  ["ecs", { ecs: { deployTargets: [{ name: "x", config: {} }] } }],
])("rejects %s without a region", (variant, fields) => {
  const { wait: _, ...rest } = wait;
  expect(problemsOf({ ...rest, ...fields })[0]).toMatch(
    new RegExp(`^0\\.${variant}\\.deployTargets\\.0\\.config`),
  );
});

test("rejects plugins with no variant and with two", () => {
  const { wait: _, ...rest } = wait;
  const message =
    "0: expected exactly one of kubernetes, terraform, cloudRun, ecs, analysis, wait, waitApproval, scriptRun, custom";
  expect(problemsOf(rest)).toEqual([message]);
  expect(problemsOf({ ...wait, scriptRun: {} })).toEqual([message]);
});

test("keeps every field of a custom plugin", () => {
  const custom = { config: { a: { b: 1 } }, deployTargets: [{ name: "x", config: { c: [true] } }] };
  const { wait: _, ...rest } = wait;
  const plugin = { ...rest, custom } satisfies Plugin;
  expect(plugins.parse([plugin])).toEqual([plugin]);
});

test("the CRD merges plugins and deploy targets by name", () => {
  interface Schema {
    readonly [key: string]: unknown;
    readonly properties: Readonly<Record<string, Schema>>;
    readonly items: Schema;
  }
  const crd = crdOf(Piped) as unknown as {
    readonly spec: {
      readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
    };
  };
  const list = crd.spec.versions[0]?.schema.openAPIV3Schema.properties.spec?.properties.plugins;
  const byName = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] };
  expect(list).toMatchObject(byName);
  for (const variant of ["kubernetes", "terraform", "cloudRun", "ecs", "custom"])
    expect(list?.items.properties[variant]?.properties.deployTargets).toMatchObject(byName);
});
