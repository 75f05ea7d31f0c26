import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Piped } from "../kinds.ts";
import { pipedConfig } from "./piped.ts";
import { ConfigError } from "./problems.ts";

type Spec = NonNullable<Piped["spec"]>;
const plugin = { name: "wait", port: 7001, url: "https://plugins.example.com/wait", wait: {} };
const specOf = (version: string, config: object = {}, rest: Partial<Spec> = {}): Spec => ({
  version,
  name: "agent",
  description: "",
  projectID: "project",
  config: { apiAddress: "pipecd:8080", webAddress: "", ...config },
  ...rest,
});

function problemsOf(spec: Spec): readonly string[] {
  try {
    pipedConfig(spec, "C", { pipedID: "id" });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const at = "spec.config";
const sealing = { sealingKey: { privateKeyFile: "/a", publicKeyFile: "/b" } };

test.each<readonly [field: string, config: object, instead: string]>([
  ["cloudProviders", { cloudProviders: [] }, "deployTargets of a plugin in spec.plugins"],
  [
    "chartRepositories",
    { chartRepositories: [] },
    "kubernetes.config.chartRepositories of a plugin in spec.plugins",
  ],
  [
    "chartRegistries",
    { chartRegistries: [] },
    "kubernetes.config.chartRegistries of a plugin in spec.plugins",
  ],
  [
    "analysisProviders",
    { analysisProviders: [] },
    "analysis.config.analysisProviders of a plugin in spec.plugins",
  ],
  ["imageProviders", { imageProviders: [] }, "eventWatcher"],
  ["sealedSecretManagement", { sealedSecretManagement: sealing }, "secretManagement"],
])("rejects %s, which an agent of v1 ignores", (field, config, instead) => {
  expect(problemsOf(specOf("v1.0.0-rc6", config))).toEqual([
    `${at}.${field}: an agent of PipeCD v1 ignores it: use ${instead}`,
  ]);
});

test("rejects plugins for an agent of v0", () => {
  const plugins = { plugins: [plugin] };
  expect(problemsOf(specOf("v0.57.0", {}, plugins))).toEqual(["spec.plugins needs an agent of PipeCD v1"]);
  expect(problemsOf(specOf("v1.0.0-rc6", {}, plugins))).toEqual([]);
});

test("accepts plan previews after v1.0.0-rc6", () => {
  const config = { planPreview: { workerNum: 1 } };
  expect(problemsOf(specOf("v1.0.0-rc6", config))).toEqual([
    `${at}.planPreview needs an agent newer than PipeCD v1.0.0-rc6`,
  ]);
  for (const version of ["v1.0.0-rc7", "v1.0.0", "v1.2.3"])
    expect(problemsOf(specOf(version, config))).toEqual([]);
});

test("validates the fields that v0 and v1 share", () => {
  const config = {
    git: { sshKeyFile: "/k", password: "cA==" },
    repositories: [
      { repoId: "a", remote: "r", branch: "b" },
      { repoId: "a", remote: "r", branch: "b" },
    ],
    notifications: { receivers: [{ name: "x", slack: {} }] },
    secretManagement: { keyPair: {} },
  };
  const problems = problemsOf(specOf("v1.0.0", config));
  expect(problems).toContain(`${at}.git: expected at most one of sshKeyFile, sshKeyData, password`);
  expect(problems).toContain(`${at}.git.username is required`);
  expect(problems).toContain(`${at}.repositories[1].repoId: a is a duplicate`);
  expect(problems).toContain(
    `${at}.notifications.receivers[0].slack: expected exactly one of hookURL, oauthTokenData, oauthTokenFile`,
  );
  expect(problems).toContain(
    `${at}.secretManagement.keyPair: expected exactly one of privateKeyFile, privateKeyData`,
  );
});

test("validates the providers of an analysis plugin", () => {
  const analysisProviders = [
    { name: "a", datadog: { apiKeyFile: "/a" } },
    { name: "a", prometheus: { address: "p" } },
  ];
  const { wait: _, ...rest } = plugin;
  const plugins = [plugin, { ...rest, name: "analysis", analysis: { config: { analysisProviders } } }];
  const path = "spec.plugins[1].analysis.config.analysisProviders";
  expect(problemsOf(specOf("v1.0.0", {}, { plugins }))).toEqual([
    `${path}[0].datadog: expected exactly one of applicationKeyFile, applicationKeyData`,
    `${path}[1].name: a is a duplicate`,
  ]);
});

test("renders no plugins for an agent of v1 without plugins", () => {
  const text = pipedConfig(specOf("v1.0.0"), "C", { pipedID: "id" });
  expect(parse(text)).toEqual({
    apiVersion: "pipecd.dev/v1beta1",
    kind: "Piped",
    spec: {
      projectID: "project",
      pipedID: "id",
      pipedKeyFile: "/etc/piped-secret/piped-key",
      apiAddress: "pipecd:8080",
    },
  });
});
