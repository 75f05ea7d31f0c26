/** Plugins of an agent of PipeCD v1, in the agent's format. */
import type { Plugin } from "../kinds/plugins.ts";
import type { Problems } from "./problems.ts";
import { analysisProviderOf, informerOf } from "./providers.ts";
import { given, sorted, variantOf } from "./rendering.ts";

/** A plugin in the agent's configuration. The agent passes `config` and `deployTargets` on to the plugin. */
interface RenderedPlugin {
  readonly name: string;
  readonly port: number;
  readonly url: string;
  readonly config?: object | undefined;
  readonly deployTargets?: readonly object[] | undefined;
}

interface Target<Config> {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly config?: Config | undefined;
}

/** Renders an empty configuration for targets without one, because the plugin does not start otherwise. */
const targetsOf = <Config extends object>(
  targets: readonly Target<Config>[],
  configOf: (config: Config) => object,
): readonly object[] =>
  targets.map(({ name, labels, config }) =>
    given({ name, labels: sorted(labels), config: config === undefined ? {} : configOf(config) }),
  );

/** Sorts maps of custom plugins by key, so that another order in the spec does not roll the pod. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries.map(([name, field]) => [name, inOrder(field)]));
}
const openForm = (config: object): object => inOrder(config) as object;

/** Renders a plugin. `path` is its path in the Piped. */
export function pluginOf(plugin: Plugin, path: string, problems: Problems): RenderedPlugin {
  const { name, port, url } = plugin;
  return given({ name, port, url, ...variantPart(plugin, path, problems) }) as RenderedPlugin;
}

function variantPart(
  plugin: Plugin,
  path: string,
  problems: Problems,
): Pick<RenderedPlugin, "config" | "deployTargets"> {
  const variant = variantOf(plugin, "name", "port", "url");
  switch (variant.type) {
    case "kubernetes": {
      const { config, deployTargets } = variant.config;
      return { config: config && chartsOf(config), deployTargets: targetsOf(deployTargets, clusterOf) };
    }
    case "terraform":
      return {
        deployTargets: targetsOf(variant.config.deployTargets, ({ vars, driftDetectionEnabled }) =>
          given({ vars, driftDetectionEnabled }),
        ),
      };
    case "cloudRun":
      return {
        deployTargets: targetsOf(variant.config.deployTargets, ({ project, region, credentialsFile }) =>
          given({ project, region, credentialsFile }),
        ),
      };
    case "ecs":
      return {
        deployTargets: targetsOf(
          variant.config.deployTargets,
          ({ region, profile, credentialsFile, roleARN, tokenFile }) =>
            given({ region, profile, credentialsFile, roleARN, tokenFile }),
        ),
      };
    case "analysis": {
      const providers = variant.config.config?.analysisProviders;
      if (providers === undefined) return {};
      const at = `${path}.analysis.config.analysisProviders`;
      const analysisProviders = providers.map((provider, index) => {
        if (providers.findIndex((other) => other.name === provider.name) < index)
          problems.add(`${at}[${index}].name: ${provider.name} is a duplicate`);
        return analysisProviderOf(provider, `${at}[${index}]`, problems);
      });
      return { config: { analysisProviders } };
    }
    case "wait":
    case "waitApproval":
    case "scriptRun":
      return {};
    case "custom": {
      const { config, deployTargets } = variant.config;
      return {
        config: config && openForm(config),
        deployTargets: deployTargets && targetsOf(deployTargets, openForm),
      };
    }
  }
}

type Kubernetes = NonNullable<Plugin["kubernetes"]>;
type Cluster = NonNullable<Kubernetes["deployTargets"][number]["config"]>;

const clusterOf = ({ masterURL, kubeConfigPath, kubectlVersion, appStateInformer }: Cluster): object =>
  given({
    masterURL,
    kubeConfigPath,
    kubectlVersion,
    appStateInformer: appStateInformer && informerOf(appStateInformer),
  });

const chartsOf = ({ chartRepositories, chartRegistries }: NonNullable<Kubernetes["config"]>): object =>
  given({
    chartRepositories: chartRepositories?.map(({ name, address, username, password, insecure }) =>
      given({ type: "HTTP", name, address, username, password, insecure: insecure || undefined }),
    ),
    chartRegistries: chartRegistries?.map(({ address, username, password }) =>
      given({ type: "OCI", address, username, password }),
    ),
  });
