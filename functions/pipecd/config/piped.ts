/** The configuration file of an agent. */
import type { Piped, PipedConfig } from "../kinds.ts";
import { secretKeys } from "../names.ts";
import { firstOfC, type Profile } from "../profile.ts";
import { documentOf } from "./document.ts";
import { durationOf, given, someGiven, sorted } from "./fields.ts";
import { notificationsOf } from "./notifications.ts";
import { Problems } from "./problems.ts";
import { analysisProviderOf, cloudProviderOf } from "./providers.ts";
import { imageProviderOf, sealedSecretManagementOf, secretManagementOf } from "./secrets.ts";

type Spec = NonNullable<Piped["spec"]>;

/** Where the agent has its key. */
export const pipedKeyFile = `/etc/piped-secret/${secretKeys.pipedKey}`;

const at = "spec.config";
/** Agents before v0.9.1 do not start with an interval of zero, which is what they take for unset. */
const olderInterval = "60s";

/**
 * The text of `piped-config.yaml`, for the agent that PipeCD knows by `pipedID`. Throws a `ConfigError` for what this version of
 * PipeCD can not have.
 */
export function pipedConfig(spec: Spec, profile: Profile, { pipedID }: { readonly pipedID: string }): string {
  const { config } = spec;
  const problems = new Problems(profile, spec.version);
  if (spec.plugins) problems.add("spec.plugins needs an agent of PipeCD v1");
  problems.from(firstOfC, "spec", { apiKeySecretRef: spec.apiKeySecretRef });
  problems.from(firstOfC, at, {
    name: config.name,
    appConfigSyncInterval: config.appConfigSyncInterval,
    chartRegistries: config.chartRegistries,
    secretManagement: config.secretManagement,
    eventWatcher: config.eventWatcher,
    appSelector: config.appSelector,
  });
  problems.from("v0.56.0", at, { planPreview: config.planPreview });
  problems.until("v0.9.0", at, {
    imageProviders: config.imageProviders,
    sealedSecretManagement: config.sealedSecretManagement,
  });
  if (profile === "L0") problems.needed(at, { webAddress: config.webAddress });
  const rendered = given({
    projectID: spec.projectID,
    pipedID,
    pipedKeyFile,
    name: config.name,
    apiAddress: config.apiAddress,
    webAddress: config.webAddress,
    syncInterval: durationOf(config.syncInterval) ?? (profile === "L0" ? olderInterval : undefined),
    appConfigSyncInterval: durationOf(config.appConfigSyncInterval),
    git: gitOf(config, problems),
    repositories: repositoriesOf(config, problems),
    chartRepositories: chartRepositoriesOf(config, problems),
    chartRegistries: config.chartRegistries?.map(({ type = "OCI", address, username, password }) =>
      given({ type, address, username, password }),
    ),
    [profile === "L0" ? "cloudProviders" : "platformProviders"]: config.cloudProviders?.map(
      (provider, index) => cloudProviderOf(provider, `${at}.cloudProviders[${index}]`, problems),
    ),
    analysisProviders: config.analysisProviders?.map((provider, index) =>
      analysisProviderOf(provider, `${at}.analysisProviders[${index}]`, problems),
    ),
    imageProviders: config.imageProviders?.map(imageProviderOf),
    notifications: config.notifications && notificationsOf(config.notifications, problems),
    sealedSecretManagement:
      config.sealedSecretManagement &&
      sealedSecretManagementOf(config.sealedSecretManagement, `${at}.sealedSecretManagement`, problems),
    secretManagement:
      config.secretManagement &&
      secretManagementOf(config.secretManagement, `${at}.secretManagement`, problems),
    eventWatcher: eventWatcherOf(config, problems),
    planPreview: planPreviewOf(config),
    appSelector: sorted(config.appSelector),
  });
  problems.end();
  return documentOf("Piped", rendered);
}

/** How repositories are reached. */
export function gitOf({ git }: PipedConfig, problems: Problems) {
  if (git === undefined) return undefined;
  const { sshKeyFile, sshKeyData, password } = git;
  problems.from(firstOfC, `${at}.git`, { sshKeyData });
  problems.from("v0.48.9", `${at}.git`, { password });
  problems.atMostOneOf(`${at}.git`, { sshKeyFile, sshKeyData, password });
  if (password) problems.needed(`${at}.git`, { username: git.username });
  problems.base64(`${at}.git`, { sshKeyData, password });
  return someGiven({
    username: git.username,
    email: git.email,
    sshConfigFilePath: git.sshConfigFilePath,
    host: git.host,
    hostName: git.hostName,
    sshKeyFile,
    sshKeyData,
    password,
  });
}

/** Repositories with applications. */
export function repositoriesOf({ repositories }: PipedConfig, problems: Problems) {
  return repositories?.map(({ repoId, remote, branch }, index) => {
    const path = `${at}.repositories[${index}]`;
    // Applications of repositories without a branch are refused.
    if (problems.profile === "C") problems.needed(path, { repoId, remote, branch });
    if (repoId && repositories.findIndex((other) => other.repoId === repoId) < index) {
      problems.add(`${path}.repoId: ${repoId} is there already`);
    }
    return given({ repoId, remote, branch });
  });
}

function chartRepositoriesOf({ chartRepositories }: PipedConfig, problems: Problems) {
  return chartRepositories?.map((chart, index) => {
    const path = `${at}.chartRepositories[${index}]`;
    const { name, address, username, password, gitRemote, sshKeyFile } = chart;
    const insecure = chart.insecure || undefined;
    problems.from(firstOfC, path, { insecure, gitRemote, sshKeyFile });
    if (chart.type === "GIT") {
      if (problems.profile === "L0") problems.add(`${path}.type: GIT needs PipeCD ${firstOfC} or later`);
      problems.needed(path, { gitRemote });
    } else problems.needed(path, { name, address });
    const type = problems.profile === "L0" ? undefined : chart.type;
    return given({ type, name, address, username, password, insecure, gitRemote, sshKeyFile });
  });
}

/** Where images and charts are watched. */
export function eventWatcherOf({ eventWatcher }: PipedConfig, problems: Problems) {
  if (eventWatcher === undefined) return undefined;
  const gitRepos = eventWatcher.gitRepos?.map(({ repoId, commitMessage, includes, excludes }, index, all) => {
    if (all.findIndex((other) => other.repoId === repoId) < index) {
      problems.add(`${at}.eventWatcher.gitRepos[${index}].repoId: ${repoId} is there already`);
    }
    return given({ repoId, commitMessage, includes, excludes });
  });
  return someGiven({ checkInterval: durationOf(eventWatcher.checkInterval), gitRepos });
}

/** How previews of plans are made. */
export function planPreviewOf({ planPreview }: PipedConfig) {
  if (planPreview === undefined) return undefined;
  return someGiven({
    workerNum: planPreview.workerNum,
    commandQueueBufferSize: planPreview.commandQueueBufferSize,
    commandCheckInterval: durationOf(planPreview.commandCheckInterval),
    commandHandleTimeout: durationOf(planPreview.commandHandleTimeout),
  });
}
