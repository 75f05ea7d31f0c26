/** Configuration fields of agents of PipeCD v0, which deploy with providers. */
import type { Piped, PipedConfig } from "../kinds.ts";
import { firstOfC } from "../profile.ts";
import type { Problems } from "./problems.ts";
import { analysisProviderOf, cloudProviderOf } from "./providers.ts";
import { given } from "./rendering.ts";
import { imageProviderOf, sealedSecretManagementOf } from "./secretmanagement.ts";

const at = "spec.config";

/** The fields that only an agent of v0 has. Adds fields that its version does not support to `problems`. */
export function v0Fields(spec: NonNullable<Piped["spec"]>, problems: Problems): object {
  const { config } = spec;
  const { profile } = problems;
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
  return {
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
    sealedSecretManagement:
      config.sealedSecretManagement &&
      sealedSecretManagementOf(config.sealedSecretManagement, `${at}.sealedSecretManagement`, problems),
  };
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
