/** Configuration fields of agents of PipeCD v1, which deploy with plugins. */
import type { Piped } from "../kinds.ts";
import { pluginOf } from "./pluginrendering.ts";
import type { Problems } from "./problems.ts";

const at = "spec.config";
/** Fields that an agent of v1 ignores silently, and their replacements. */
const moved = {
  cloudProviders: "deployTargets of a plugin in spec.plugins",
  chartRepositories: "kubernetes.config.chartRepositories of a plugin in spec.plugins",
  chartRegistries: "kubernetes.config.chartRegistries of a plugin in spec.plugins",
  analysisProviders: "analysis.config.analysisProviders of a plugin in spec.plugins",
  imageProviders: "eventWatcher",
  sealedSecretManagement: "secretManagement",
} as const;

/** Release candidates up to v1.0.0-rc6 have no settings for plan previews. */
const hasPlanPreview = (version: string): boolean => !/^v1\.0\.0-rc[0-6]$/.test(version);

/** The fields that only an agent of v1 has. Adds fields that it does not support to `problems`. */
export function v1Fields(
  { config, plugins, version }: NonNullable<Piped["spec"]>,
  problems: Problems,
): object {
  for (const [field, instead] of Object.entries(moved)) {
    if (config[field as keyof typeof moved] !== undefined)
      problems.add(`${at}.${field}: an agent of PipeCD v1 ignores it: use ${instead}`);
  }
  if (config.planPreview && !hasPlanPreview(version))
    problems.add(`${at}.planPreview needs an agent newer than PipeCD v1.0.0-rc6`);
  return {
    plugins: plugins?.map((plugin, index) => pluginOf(plugin, `spec.plugins[${index}]`, problems)),
  };
}
