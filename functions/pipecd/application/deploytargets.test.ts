import { expect, test } from "vitest";
import type { Application, Piped } from "../kinds.ts";
import { byPlugins } from "./deploytargets.ts";

const plugin = { port: 7001, url: "https://plugins.example.com/plugin" };
const piped = {
  metadata: { name: "agent" },
  spec: {
    plugins: [
      { ...plugin, name: "kubernetes", kubernetes: { deployTargets: [{ name: "dev" }, { name: "prod" }] } },
      { ...plugin, name: "wait", wait: {} },
      { ...plugin, name: "opentofu", custom: { deployTargets: [{ name: "state" }] } },
    ],
  },
} as unknown as Piped;
const specOf = (fields: object): Application["spec"] => fields as Application["spec"];

test("has deploy targets instead of a provider", () => {
  const deployTargetsByPlugin = { kubernetes: ["prod", "dev"], opentofu: ["state"] };
  expect(byPlugins(specOf({ deployTargetsByPlugin }), piped)).toEqual({
    kind: "KUBERNETES",
    provider: "",
    deployTargets: [
      { plugin: "kubernetes", names: ["prod", "dev"] },
      { plugin: "opentofu", names: ["state"] },
    ],
    labels: {},
  });
});

test.each([
  ["Terraform", "TERRAFORM", "TERRAFORM"],
  ["crossplane", "KUBERNETES", "CROSSPLANE"],
])("turns the kind %s into a label", (kind, sent, label) => {
  expect(byPlugins(specOf({ kind }), piped)).toMatchObject({ kind: sent, labels: { kind: label } });
});

test.each([
  [
    { cloudProvider: "kubernetes-default" },
    "spec.cloudProvider needs an agent of PipeCD v0: use spec.deployTargetsByPlugin",
  ],
  [
    { deployTargetsByPlugin: { terraform: ["x"] } },
    "spec.deployTargetsByPlugin.terraform: expected a plugin of the Piped agent, which has kubernetes, wait, opentofu",
  ],
  [
    { deployTargetsByPlugin: { kubernetes: ["dev", "test"] } },
    "spec.deployTargetsByPlugin.kubernetes[1]: expected a deploy target of the plugin, which has dev, prod, found test",
  ],
  [
    { deployTargetsByPlugin: { wait: ["dev"] } },
    "spec.deployTargetsByPlugin.wait[0]: expected a deploy target of the plugin, which has none, found dev",
  ],
  [
    { deployTargetsByPlugin: { kubernetes: ["dev", "dev"] } },
    "spec.deployTargetsByPlugin.kubernetes[1]: dev is a duplicate",
  ],
])("rejects %j", (fields, message) => {
  expect(() => byPlugins(specOf(fields), piped)).toThrow(
    expect.objectContaining({ reason: "ConfigInvalid", message }),
  );
});
