import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Piped, PipedConfig } from "../kinds.ts";
import type { Profile } from "../profile.ts";
import { pipedConfig } from "./piped.ts";
import { ConfigError } from "./problems.ts";

type Spec = NonNullable<Piped["spec"]>;
type Config = Partial<PipedConfig>;

const versions = { L0: "v0.9.0", C: "v0.57.0" } as const;
const specOf = (profile: Profile, config: Config, rest: Partial<Spec> = {}): Spec => ({
  version: versions[profile],
  name: "agent",
  description: "",
  projectID: "project",
  config: { apiAddress: "pipecd:8080", webAddress: "http://pipecd:8080", ...config },
  ...rest,
});
const pipedID = "id";

function problemsOf(profile: Profile, config: Config, rest?: Partial<Spec>): readonly string[] {
  try {
    pipedConfig(specOf(profile, config, rest), profile, { pipedID });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const rendered = (profile: Profile, config: Config) =>
  (parse(pipedConfig(specOf(profile, config), profile, { pipedID })) as { spec: Record<string, unknown> })
    .spec;

const at = "spec.config";
const keyPair = { privateKeyFile: "/a", publicKeyFile: "/b" };
const lambda = (fields: object): Config => ({
  cloudProviders: [{ name: "x", lambdaConfig: { region: "r", ...fields } }],
});
const slack = (fields: object): Config => ({
  notifications: { receivers: [{ name: "x", slack: fields }] },
});
const route = (fields: object): Config => ({
  notifications: {
    routes: [{ name: "x", receiver: "y", ...fields }],
    receivers: [{ name: "y", slack: { hookURL: "https://h" } }],
  },
});

describe("up to v0.9.0 rejects", () => {
  test.each<readonly [string, Config]>([
    ["name", { name: "x" }],
    ["appConfigSyncInterval", { appConfigSyncInterval: 60 }],
    ["git.sshKeyData", { git: { sshKeyData: "a2V5" } }],
    ["chartRepositories[0].insecure", { chartRepositories: [{ name: "x", address: "a", insecure: true }] }],
    ["chartRegistries", { chartRegistries: [{ address: "a" }] }],
    ["cloudProviders[0].labels", { cloudProviders: [{ name: "x", labels: {}, terraformConfig: {} }] }],
    ["cloudProviders[0].ecsConfig", { cloudProviders: [{ name: "x", ecsConfig: { region: "r" } }] }],
    ["cloudProviders[0].lambdaConfig.credentialsFile", lambda({ credentialsFile: "/c" })],
    ["cloudProviders[0].lambdaConfig.roleARN", lambda({ roleARN: "r" })],
    ["cloudProviders[0].lambdaConfig.tokenFile", lambda({ tokenFile: "/t" })],
    ["cloudProviders[0].lambdaConfig.profile", lambda({ profile: "p" })],
    ["notifications.routes[0].labels", route({ labels: { a: "b" } })],
    ["notifications.routes[0].ignoreLabels", route({ ignoreLabels: { a: "b" } })],
    [
      "notifications.receivers[0].webhook.signatureKey",
      { notifications: { receivers: [{ name: "x", webhook: { url: "u", signatureKey: "s" } }] } },
    ],
    [
      "notifications.receivers[0].webhook.signatureValue",
      { notifications: { receivers: [{ name: "x", webhook: { url: "u", signatureValue: "s" } }] } },
    ],
    [
      "notifications.receivers[0].webhook.signatureValueFile",
      { notifications: { receivers: [{ name: "x", webhook: { url: "u", signatureValueFile: "/s" } }] } },
    ],
    ["secretManagement", { secretManagement: { keyPair } }],
    ["eventWatcher", { eventWatcher: {} }],
    ["appSelector", { appSelector: { a: "b" } }],
  ])("%s", (field, config) => {
    expect(problemsOf("L0", config)).toEqual([`${at}.${field} needs PipeCD v0.37.1 or later`]);
    expect(problemsOf("C", config)).toEqual([]);
  });

  test("charts from a Git repository", () => {
    const config: Config = { chartRepositories: [{ type: "GIT", gitRemote: "g", sshKeyFile: "/k" }] };
    expect(problemsOf("L0", config)).toEqual([
      `${at}.chartRepositories[0].gitRemote needs PipeCD v0.37.1 or later`,
      `${at}.chartRepositories[0].sshKeyFile needs PipeCD v0.37.1 or later`,
      `${at}.chartRepositories[0].type: GIT needs PipeCD v0.37.1 or later`,
    ]);
    expect(problemsOf("C", config)).toEqual([]);
  });

  test("Slack without a hook", () => {
    const config = slack({ oauthTokenFile: "/t", channelID: "c" });
    const path = `${at}.notifications.receivers[0].slack`;
    expect(problemsOf("L0", config)).toEqual([
      `${path}.hookURL is required`,
      `${path}.channelID needs PipeCD v0.44.0 or later`,
      `${path}.oauthTokenFile needs PipeCD v0.45.0 or later`,
    ]);
    expect(problemsOf("C", config)).toEqual([]);
  });

  test("Datadog without an address and both files", () => {
    const datadog = { apiKeyData: "YQ==", applicationKeyData: "YQ==" };
    const path = `${at}.analysisProviders[0].datadog`;
    expect(problemsOf("L0", { analysisProviders: [{ name: "x", datadog }] })).toEqual([
      `${path}.apiKeyData needs PipeCD v0.45.0 or later`,
      `${path}.applicationKeyData needs PipeCD v0.45.0 or later`,
      `${path}.address is required`,
      `${path}.apiKeyFile is required`,
      `${path}.applicationKeyFile is required`,
    ]);
    expect(problemsOf("C", { analysisProviders: [{ name: "x", datadog }] })).toEqual([]);
  });

  test("an agent with an API key or without a public address", () => {
    expect(problemsOf("L0", { webAddress: "" }, { apiKeySecretRef: { name: "x" } })).toEqual([
      "spec.apiKeySecretRef needs PipeCD v0.37.1 or later",
      `${at}.webAddress is required`,
    ]);
    expect(problemsOf("C", { webAddress: "" }, { apiKeySecretRef: { name: "x" } })).toEqual([]);
  });
});

describe("from v0.37.1 rejects", () => {
  test.each<readonly [string, Config]>([
    ["imageProviders", { imageProviders: [{ name: "x", gcr: {} }] }],
    ["sealedSecretManagement", { sealedSecretManagement: { sealingKey: keyPair } }],
  ])("%s", (field, config) => {
    expect(problemsOf("C", config)).toEqual([`${at}.${field} needs PipeCD v0.9.0 or older`]);
    expect(problemsOf("L0", config)).toEqual([]);
  });
});

test("accepts plan previews from v0.56.0", () => {
  const config: Config = { planPreview: { workerNum: 1 } };
  const problem = `${at}.planPreview needs PipeCD v0.56.0 or later`;
  expect(problemsOf("L0", config)).toEqual([problem]);
  expect(problemsOf("C", config, { version: "v0.55.0" })).toEqual([problem]);
  expect(problemsOf("C", config, { version: "v0.56.0" })).toEqual([]);
});

describe.each(["L0", "C"] as const)("with the profile %s", (profile) => {
  test("rejects a route with an unknown receiver", () => {
    expect(
      problemsOf(profile, { notifications: { routes: [{ name: "x", receiver: "y" }], receivers: [] } }),
    ).toEqual([`${at}.notifications.routes[0].receiver: the receiver y does not exist`]);
  });

  test("rejects duplicate repositories and charts without an address", () => {
    const repository = { repoId: "x", remote: "r", branch: "b" };
    expect(problemsOf(profile, { repositories: [repository, repository] })).toEqual([
      `${at}.repositories[1].repoId: x is a duplicate`,
    ]);
    expect(problemsOf(profile, { chartRepositories: [{ name: "x" }] })).toEqual([
      `${at}.chartRepositories[0].address is required`,
    ]);
  });

  test("sets the fields that Denrei knows", () => {
    const ignored = { projectID: "other", pipedID: "other", pipedKeyFile: "/other" };
    expect(rendered(profile, { ...ignored, syncInterval: 60 })).toEqual({
      projectID: "project",
      pipedID: "id",
      pipedKeyFile: "/etc/piped-secret/piped-key",
      apiAddress: "pipecd:8080",
      webAddress: "http://pipecd:8080",
      syncInterval: "60s",
    });
  });
});

test("omits an unset interval, except for versions that do not start without one", () => {
  for (const syncInterval of [undefined, 0, "0s"]) {
    expect(rendered("C", { syncInterval })).not.toHaveProperty("syncInterval");
    expect(rendered("L0", { syncInterval }).syncInterval).toBe("60s");
  }
  expect(rendered("L0", { syncInterval: "5m" }).syncInterval).toBe("5m");
});

test.each<readonly [string, Config, readonly string[]]>([
  [
    "a branch",
    { repositories: [{ repoId: "x" }] },
    [`${at}.repositories[0].remote is required`, `${at}.repositories[0].branch is required`],
  ],
  [
    "only one Git credential",
    { git: { sshKeyFile: "/k", password: "cA==" } },
    [`${at}.git: expected at most one of sshKeyFile, sshKeyData, password`, `${at}.git.username is required`],
  ],
  [
    "a remote for charts in Git",
    { chartRepositories: [{ type: "GIT" }] },
    [`${at}.chartRepositories[0].gitRemote is required`],
  ],
  [
    "each of Datadog's keys once",
    { analysisProviders: [{ name: "x", datadog: { apiKeyFile: "/a", apiKeyData: "YQ==" } }] },
    [
      `${at}.analysisProviders[0].datadog: expected exactly one of apiKeyFile, apiKeyData`,
      `${at}.analysisProviders[0].datadog: expected exactly one of applicationKeyFile, applicationKeyData`,
    ],
  ],
  [
    "a hook or a token for Slack",
    slack({}),
    [
      `${at}.notifications.receivers[0].slack: expected exactly one of hookURL, oauthTokenData, oauthTokenFile`,
      `${at}.notifications.receivers[0].slack.channelID is required`,
    ],
  ],
  [
    "no channel with a hook",
    slack({ hookURL: "h", channelID: "c" }),
    [`${at}.notifications.receivers[0].slack: expected at most one of hookURL, channelID`],
  ],
  [
    "one signature",
    {
      notifications: {
        receivers: [{ name: "x", webhook: { url: "u", signatureValue: "s", signatureValueFile: "/s" } }],
      },
    },
    [`${at}.notifications.receivers[0].webhook: expected at most one of signatureValue, signatureValueFile`],
  ],
  [
    "both keys of a pair",
    { secretManagement: { keyPair: { privateKeyFile: "/a", privateKeyData: "YQ==" } } },
    [
      `${at}.secretManagement.keyPair: expected exactly one of privateKeyFile, privateKeyData`,
      `${at}.secretManagement.keyPair: expected exactly one of publicKeyFile, publicKeyData`,
    ],
  ],
  [
    "unique repositories in the event watcher",
    { eventWatcher: { gitRepos: [{ repoId: "x" }, { repoId: "x" }] } },
    [`${at}.eventWatcher.gitRepos[1].repoId: x is a duplicate`],
  ],
])("from v0.37.1 an agent needs %s", (_, config, problems) => {
  expect(problemsOf("C", config)).toEqual(problems);
});

const kms = { keyName: "k", decryptServiceAccountFile: "/d", encryptServiceAccountFile: "/e" };
test("rejects Google Cloud KMS, which no agent supports", () => {
  const problem = (profile: Profile, config: Partial<PipedConfig>) => problemsOf(profile, config);
  expect(problem("C", { secretManagement: { gcpKMS: kms } })).toEqual([
    "spec.config.secretManagement.gcpKMS: no version of PipeCD supports Google Cloud KMS: use keyPair",
  ]);
  expect(problem("L0", { sealedSecretManagement: { gcpKMS: kms } })).toEqual([
    "spec.config.sealedSecretManagement.gcpKMS: no version of PipeCD supports Google Cloud KMS: use sealingKey",
  ]);
});

test("rejects base64 data that the agent cannot decode", () => {
  const key = { privateKeyData: "YQ", publicKeyFile: "/p" };
  const slack = { name: "r", slack: { oauthTokenData: "a-b_", channelID: "c" } };
  expect(
    problemsOf("C", {
      git: { sshKeyData: "-----BEGIN" },
      secretManagement: { keyPair: key },
      notifications: { receivers: [slack] },
    }),
  ).toEqual([
    "spec.config.git.sshKeyData: expected base64 with padding",
    "spec.config.notifications.receivers[0].slack.oauthTokenData: expected base64 with padding",
    "spec.config.secretManagement.keyPair.privateKeyData: expected base64 with padding",
  ]);
  expect(problemsOf("C", { git: { username: "u", password: "aHVudGVyMg==" } })).toEqual([]);
});

test("throws for a union without exactly one variant", () => {
  const problem = (provider: object) => () =>
    pipedConfig(specOf("C", { cloudProviders: [{ name: "x", ...provider }] }), "C", { pipedID });
  expect(problem({})).toThrow("expected exactly one variant, found none");
  expect(problem({ terraformConfig: {}, kubernetesConfig: {} })).toThrow(
    "expected exactly one variant, found terraformConfig, kubernetesConfig",
  );
});
