/** The configuration file of an agent, of PipeCD v0 or v1. */
import type { Piped, PipedConfig } from "../kinds.ts";
import { secretKeys } from "../names.ts";
import { firstOfC, isV1, type Profile } from "../profile.ts";
import { documentOf } from "./document.ts";
import { notificationsOf } from "./notifications.ts";
import { v0Fields } from "./pipedv0.ts";
import { v1Fields } from "./pipedv1.ts";
import { Problems } from "./problems.ts";
import { durationOf, given, someGiven, sorted } from "./rendering.ts";
import { secretManagementOf } from "./secretmanagement.ts";

/** Path of the key in the agent's pod. */
export const pipedKeyFile = `/etc/piped-secret/${secretKeys.pipedKey}`;

const at = "spec.config";
/** Agents before v0.9.1 read an unset interval as zero, and then do not start. */
const olderInterval = "60s";

/**
 * The content of `piped-config.yaml`, for the agent with the id `pipedID` in PipeCD. Throws a `ConfigError` for fields that the
 * agent's version does not support.
 */
export function pipedConfig(
  spec: NonNullable<Piped["spec"]>,
  profile: Profile,
  { pipedID }: { readonly pipedID: string },
): string {
  const { config } = spec;
  const problems = new Problems(profile, spec.version);
  const deploying = isV1(spec.version) ? v1Fields(spec, problems) : v0Fields(spec, problems);
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
    ...deploying,
    notifications: config.notifications && notificationsOf(config.notifications, problems),
    secretManagement:
      config.secretManagement &&
      secretManagementOf(config.secretManagement, `${at}.secretManagement`, problems),
    eventWatcher: eventWatcherOf(config, problems),
    planPreview: planPreviewOf(config),
    appSelector: sorted(config.appSelector),
  });
  problems.throwIfAny();
  return documentOf("Piped", rendered);
}

function gitOf({ git }: PipedConfig, problems: Problems) {
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

function repositoriesOf({ repositories }: PipedConfig, problems: Problems) {
  return repositories?.map(({ repoId, remote, branch }, index) => {
    const path = `${at}.repositories[${index}]`;
    // PipeCD rejects applications of repositories without a branch.
    if (problems.profile === "C") problems.needed(path, { repoId, remote, branch });
    if (repoId && repositories.findIndex((other) => other.repoId === repoId) < index) {
      problems.add(`${path}.repoId: ${repoId} is a duplicate`);
    }
    return given({ repoId, remote, branch });
  });
}

function eventWatcherOf({ eventWatcher }: PipedConfig, problems: Problems) {
  if (eventWatcher === undefined) return undefined;
  const gitRepos = eventWatcher.gitRepos?.map(({ repoId, commitMessage, includes, excludes }, index, all) => {
    if (all.findIndex((other) => other.repoId === repoId) < index) {
      problems.add(`${at}.eventWatcher.gitRepos[${index}].repoId: ${repoId} is a duplicate`);
    }
    return given({ repoId, commitMessage, includes, excludes });
  });
  return someGiven({ checkInterval: durationOf(eventWatcher.checkInterval), gitRepos });
}

function planPreviewOf({ planPreview }: PipedConfig) {
  if (planPreview === undefined) return undefined;
  return someGiven({
    workerNum: planPreview.workerNum,
    commandQueueBufferSize: planPreview.commandQueueBufferSize,
    commandCheckInterval: durationOf(planPreview.commandCheckInterval),
    commandHandleTimeout: durationOf(planPreview.commandHandleTimeout),
  });
}
