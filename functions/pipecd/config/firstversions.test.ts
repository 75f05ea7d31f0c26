/** Fields introduced after the first version of the profile C: rejected in the version before, accepted from their first version on. */
import { expect, test } from "vitest";
import type { ControlPlane, Piped } from "../kinds.ts";
import { controlPlaneConfig } from "./controlplane.ts";
import { pipedConfig } from "./piped.ts";
import { ConfigError } from "./problems.ts";

type PipedFields = Partial<Piped["spec"]["config"]>;
type PlaneFields = Partial<ControlPlane["spec"]["config"]>;

function problemsOf(render: () => string): readonly string[] {
  try {
    render();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const pipedProblems = (version: string, fields: PipedFields) => {
  const config = { apiAddress: "pipecd:8080", webAddress: "http://pipecd:8080", ...fields };
  const spec = { version, name: "agent", description: "", projectID: "project", config };
  return problemsOf(() => pipedConfig(spec, "C", { pipedID: "id" }));
};

const planeProblems = (version: string, fields: PlaneFields, more: Partial<ControlPlane["spec"]> = {}) => {
  const datastore = { mysqlConfig: { url: "u@tcp(m)", database: "d" } };
  const filestore = { gcsConfig: { bucket: "b" } };
  const spec = { version, config: { datastore, filestore, ...fields }, ...more };
  return problemsOf(() => controlPlaneConfig(spec, "C"));
};

const provider = (fields: object): PipedFields => ({ cloudProviders: [{ name: "x", ...fields }] });
const slack = (fields: object): PipedFields => ({
  notifications: { receivers: [{ name: "x", slack: fields }] },
});
const datadog = (fields: object): PipedFields => ({ analysisProviders: [{ name: "x", datadog: fields }] });
const hookURL = "https://h.example.com";
const files = { apiKeyFile: "/a", applicationKeyFile: "/b" };
const receiver = "notifications.receivers[0].slack";

test.each<readonly [before: string, first: string, field: string, config: PipedFields]>([
  [
    "v0.40.1",
    "v0.41.0",
    "cloudProviders[0].kubernetesConfig.kubectlVersion",
    provider({ kubernetesConfig: { kubectlVersion: "1.31.0" } }),
  ],
  [
    "v0.44.2",
    "v0.45.0",
    "cloudProviders[0].terraformConfig.driftDetectionEnabled",
    provider({ terraformConfig: { driftDetectionEnabled: false } }),
  ],
  [
    "v0.49.1",
    "v0.49.2",
    "cloudProviders[0].lambdaConfig.awsAPIPollingInterval",
    provider({ lambdaConfig: { region: "r", awsAPIPollingInterval: 15 } }),
  ],
  [
    "v0.44.2",
    "v0.45.0",
    "analysisProviders[0].datadog.apiKeyData",
    datadog({ ...files, apiKeyFile: undefined, apiKeyData: "YQ==" }),
  ],
  [
    "v0.44.2",
    "v0.45.0",
    "analysisProviders[0].datadog.applicationKeyData",
    datadog({ ...files, applicationKeyFile: undefined, applicationKeyData: "YQ==" }),
  ],
  ["v0.44.2", "v0.45.0", `${receiver}.oauthTokenFile`, slack({ oauthTokenFile: "/t", channelID: "c" })],
  ["v0.44.2", "v0.45.0", `${receiver}.oauthTokenData`, slack({ oauthTokenData: "dA==", channelID: "c" })],
  ["v0.44.2", "v0.45.0", `${receiver}.mentionedAccounts`, slack({ hookURL, mentionedAccounts: ["a"] })],
  ["v0.48.0", "v0.48.1", `${receiver}.mentionedGroups`, slack({ hookURL, mentionedGroups: ["g"] })],
  ["v0.48.8", "v0.48.9", "git.password", { git: { username: "u", password: "cA==" } }],
  ["v0.55.0", "v0.56.0", "planPreview", { planPreview: { workerNum: 1 } }],
])("rejects in %s and accepts in %s an agent's field %s", (before, first, field, config) => {
  expect(pipedProblems(before, config)).toEqual([`spec.config.${field} needs PipeCD ${first} or later`]);
  expect(pipedProblems(first, config)).toEqual([]);
});

test("reports each field of a Slack channel in v0.43.1", () => {
  const config = slack({ oauthTokenFile: "/t", channelID: "c" });
  expect(pipedProblems("v0.43.1", config)).toEqual([
    `spec.config.${receiver}.channelID needs PipeCD v0.44.0 or later`,
    `spec.config.${receiver}.oauthTokenFile needs PipeCD v0.45.0 or later`,
  ]);
});

const client = { clientId: "i", clientSecret: "s" };
const sso = (fields: object): PlaneFields => ({
  sharedSSOConfigs: [{ name: "sso", ...fields } as NonNullable<PlaneFields["sharedSSOConfigs"]>[number]],
});

test.each<readonly [before: string, first: string, field: string, config: PlaneFields]>([
  [
    "v0.40.0",
    "v0.40.1",
    "insightCollector.deployment.chunkMaxCount",
    { insightCollector: { deployment: { chunkMaxCount: 10 } } },
  ],
  [
    "v0.40.1",
    "v0.41.0",
    "insightCollector.application.enabled: false",
    { insightCollector: { application: { enabled: false } } },
  ],
  ["v0.41.3", "v0.41.4", "sharedSSOConfigs[0].sessionTtl", sso({ github: client, sessionTtl: 1 })],
  ["v0.48.9", "v0.49.0", "sharedSSOConfigs[0].oidc", sso({ oidc: client })],
  [
    "v0.51.3",
    "v0.52.0",
    "sharedSSOConfigs[0].oidc.rolesClaimKey",
    sso({ oidc: { ...client, rolesClaimKey: "r" } }),
  ],
])("rejects in %s and accepts in %s a control plane's field %s", (before, first, field, config) => {
  expect(planeProblems(before, config)).toEqual([`spec.config.${field} needs PipeCD ${first} or later`]);
  expect(planeProblems(first, config)).toEqual([]);
});

test("rejects API keys in v0.43.1, where they cannot do all that is required", () => {
  const bootstrapped = { bootstrapAPIKeys: true };
  expect(planeProblems("v0.43.1", {}, bootstrapped)).toEqual([
    "spec.bootstrapAPIKeys needs PipeCD v0.44.0 or later",
  ]);
  expect(planeProblems("v0.44.0", {}, bootstrapped)).toEqual([]);
});

test("accepts a common configuration in v0.37.1", () => {
  const enabled = { insightCollector: { application: { enabled: true } } };
  expect(
    planeProblems("v0.37.1", { ...enabled, ...sso({ github: client }) }, { tls: { secretName: "t" } }),
  ).toEqual([]);
  expect(pipedProblems("v0.37.1", { ...slack({ hookURL }), ...datadog(files) })).toEqual([]);
});
