/** Providers of an agent in PipeCD's format: a type, and the configuration of that type. */
import type { AnalysisProvider, CloudProvider } from "../kinds/providers.ts";
import { firstOfC } from "../profile.ts";
import type { Problems } from "./problems.ts";
import { durationOf, given, someGiven, sorted, variantOf } from "./rendering.ts";

type ConfigOf<Union, Name extends keyof Union> = { [Field in keyof NonNullable<Union[Name]>]?: unknown };
interface Named {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
}

type RenderedCloudProvider = Named &
  (
    | { readonly type: "KUBERNETES"; readonly config: ConfigOf<CloudProvider, "kubernetesConfig"> }
    | { readonly type: "TERRAFORM"; readonly config: ConfigOf<CloudProvider, "terraformConfig"> }
    | { readonly type: "CLOUDRUN"; readonly config: ConfigOf<CloudProvider, "cloudRunConfig"> }
    | { readonly type: "LAMBDA"; readonly config: ConfigOf<CloudProvider, "lambdaConfig"> }
    | { readonly type: "ECS"; readonly config: ConfigOf<CloudProvider, "ecsConfig"> }
  );

/** Renders a platform to deploy to. `path` is its path in the Piped. */
export function cloudProviderOf(
  provider: CloudProvider,
  path: string,
  problems: Problems,
): RenderedCloudProvider {
  problems.from(firstOfC, path, { labels: provider.labels });
  const { type, config } = typedCloudProvider(provider, path, problems);
  const labels = sorted(provider.labels);
  return { name: provider.name, type, ...(labels && { labels }), config } as RenderedCloudProvider;
}

/** A rendered provider without the fields that all providers share. */
type Typed<Rendered> = Rendered extends Named & infer Rest ? Omit<Rest, keyof Named> : never;

function typedCloudProvider(
  provider: CloudProvider,
  path: string,
  problems: Problems,
): Typed<RenderedCloudProvider> {
  const variant = variantOf(provider, "name", "labels");
  switch (variant.type) {
    case "kubernetesConfig": {
      const { masterURL, kubeConfigPath, kubectlVersion, appStateInformer } = variant.config;
      problems.from("v0.41.0", `${path}.kubernetesConfig`, { kubectlVersion });
      return {
        type: "KUBERNETES",
        config: given({
          masterURL,
          kubeConfigPath,
          kubectlVersion,
          appStateInformer: appStateInformer && informerOf(appStateInformer),
        }),
      };
    }
    case "terraformConfig": {
      const { vars, driftDetectionEnabled } = variant.config;
      problems.from("v0.45.0", `${path}.terraformConfig`, { driftDetectionEnabled });
      return { type: "TERRAFORM", config: given({ vars, driftDetectionEnabled }) };
    }
    case "cloudRunConfig": {
      const { project, region, credentialsFile } = variant.config;
      return { type: "CLOUDRUN", config: given({ project, region, credentialsFile }) };
    }
    case "lambdaConfig": {
      const { region, credentialsFile, roleARN, tokenFile, profile, awsAPIPollingInterval } = variant.config;
      const lambda = `${path}.lambdaConfig`;
      problems.from(firstOfC, lambda, { credentialsFile, roleARN, tokenFile, profile });
      problems.from("v0.49.2", lambda, { awsAPIPollingInterval });
      return {
        type: "LAMBDA",
        config: given({
          region,
          credentialsFile,
          roleARN,
          tokenFile,
          profile,
          awsAPIPollingInterval: durationOf(awsAPIPollingInterval),
        }),
      };
    }
    case "ecsConfig": {
      const { region, credentialsFile, roleARN, tokenFile, profile } = variant.config;
      problems.from(firstOfC, path, { ecsConfig: variant.config });
      return { type: "ECS", config: given({ region, credentialsFile, roleARN, tokenFile, profile }) };
    }
  }
}

type Informer = NonNullable<NonNullable<CloudProvider["kubernetesConfig"]>["appStateInformer"]>;
const matchersOf = (matchers: Informer["includeResources"]) =>
  matchers?.map(({ apiVersion, kind }) => given({ apiVersion, kind }));
/** Renders the watched resources of a cluster. */
export const informerOf = ({ namespace, includeResources, excludeResources }: Informer) =>
  someGiven({
    namespace,
    includeResources: matchersOf(includeResources),
    excludeResources: matchersOf(excludeResources),
  });

type RenderedAnalysisProvider = Named &
  (
    | { readonly type: "PROMETHEUS"; readonly config: ConfigOf<AnalysisProvider, "prometheus"> }
    | { readonly type: "DATADOG"; readonly config: ConfigOf<AnalysisProvider, "datadog"> }
    | { readonly type: "STACKDRIVER"; readonly config: ConfigOf<AnalysisProvider, "stackdriver"> }
  );

/** Renders a source of metrics. `path` is its path in the Piped. */
export function analysisProviderOf(
  provider: AnalysisProvider,
  path: string,
  problems: Problems,
): RenderedAnalysisProvider {
  const { name } = provider;
  const variant = variantOf(provider, "name");
  switch (variant.type) {
    case "prometheus": {
      const { address, usernameFile, passwordFile } = variant.config;
      return { name, type: "PROMETHEUS", config: given({ address, usernameFile, passwordFile }) };
    }
    case "datadog": {
      const { address, apiKeyFile, applicationKeyFile, apiKeyData, applicationKeyData } = variant.config;
      const datadog = `${path}.datadog`;
      problems.from("v0.45.0", datadog, { apiKeyData, applicationKeyData });
      if (problems.profile === "L0") {
        problems.needed(datadog, { address, apiKeyFile, applicationKeyFile });
      } else {
        problems.oneOf(datadog, { apiKeyFile, apiKeyData });
        problems.oneOf(datadog, { applicationKeyFile, applicationKeyData });
      }
      return {
        name,
        type: "DATADOG",
        config: given({ address, apiKeyFile, applicationKeyFile, apiKeyData, applicationKeyData }),
      };
    }
    case "stackdriver": {
      const { serviceAccountFile } = variant.config;
      return { name, type: "STACKDRIVER", config: { serviceAccountFile } };
    }
  }
}
