/** The configuration file of an agent of PipeCD v1. */
import type { Piped } from "../kinds.ts";
import { documentOf } from "./document.ts";
import { durationOf, given, sorted } from "./fields.ts";
import { notificationsOf } from "./notifications.ts";
import { eventWatcherOf, gitOf, pipedKeyFile, planPreviewOf, repositoriesOf } from "./piped.ts";
import { pluginOf } from "./plugins.ts";
import { Problems } from "./problems.ts";
import { secretManagementOf } from "./secrets.ts";

type Spec = NonNullable<Piped["spec"]>;

const at = "spec.config";
/** Fields that an agent of v1 ignores without a word, and what stands in their place. */
const moved = {
  cloudProviders: "deployTargets of a plugin in spec.plugins",
  chartRepositories: "kubernetes.config.chartRepositories of a plugin in spec.plugins",
  chartRegistries: "kubernetes.config.chartRegistries of a plugin in spec.plugins",
  analysisProviders: "analysis.config.analysisProviders of a plugin in spec.plugins",
  imageProviders: "eventWatcher",
  sealedSecretManagement: "secretManagement",
} as const;

/** Release candidates up to v1.0.0-rc6 have no settings of plan previews. */
const hasPlanPreview = (version: string): boolean => !/^v1\.0\.0-rc[0-6]$/.test(version);

/** The text of `piped-config.yaml`. Throws a `ConfigError` for what an agent of v1 cannot have. */
export function pipedV1Config(spec: Spec, { pipedID }: { readonly pipedID: string }): string {
  const { config } = spec;
  const problems = new Problems("C", spec.version);
  for (const [field, instead] of Object.entries(moved)) {
    if (config[field as keyof typeof moved] !== undefined)
      problems.add(`${at}.${field}: an agent of PipeCD v1 ignores it: use ${instead}`);
  }
  if (config.planPreview && !hasPlanPreview(spec.version))
    problems.add(`${at}.planPreview needs an agent after PipeCD v1.0.0-rc6`);
  const rendered = given({
    projectID: spec.projectID,
    pipedID,
    pipedKeyFile,
    name: config.name,
    apiAddress: config.apiAddress,
    webAddress: config.webAddress,
    syncInterval: durationOf(config.syncInterval),
    appConfigSyncInterval: durationOf(config.appConfigSyncInterval),
    git: gitOf(config, problems),
    repositories: repositoriesOf(config, problems),
    plugins: spec.plugins?.map((plugin, index) => pluginOf(plugin, `spec.plugins[${index}]`, problems)),
    notifications: config.notifications && notificationsOf(config.notifications, problems),
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
