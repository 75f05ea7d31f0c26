/** Providers of a Piped: where applications are deployed, and where numbers about them come from. */
import { z } from "zod";
import { duration, exactlyOne, filled, inTheOpen, text, texts } from "./fields.ts";

const later = "From PipeCD v0.37.1.";
const keys = "From PipeCD v0.45.0.";
const matchers = z
  .array(z.object({ apiVersion: filled, kind: text.optional().describe("Default: all kinds.") }))
  .optional();

/** A cluster that applications are deployed to. */
export const kubernetesFields = {
  masterURL: text.optional().describe("Default: this cluster."),
  kubeConfigPath: text.optional(),
  kubectlVersion: text.optional().describe("From PipeCD v0.41.0."),
  appStateInformer: z
    .object({
      namespace: text.optional().describe("Default: all namespaces."),
      includeResources: matchers,
      excludeResources: matchers,
    })
    .optional()
    .describe("What is watched."),
};

/** How AWS is reached. */
const aws = {
  region: filled,
  credentialsFile: text.optional().describe(later),
  roleARN: text.optional().describe(later),
  tokenFile: text.optional().describe(later),
  profile: text.optional().describe(later),
};

export const cloudProvider = exactlyOne(
  z.object({
    name: filled,
    labels: z.record(z.string(), z.string()).optional().describe(later),
    kubernetesConfig: z.object(kubernetesFields).optional(),
    terraformConfig: z
      .object({
        vars: texts.optional().describe("name=value, each."),
        driftDetectionEnabled: z.boolean().optional().describe("Default: true. From PipeCD v0.45.0."),
      })
      .optional(),
    cloudRunConfig: z
      .object({ project: filled, region: filled, credentialsFile: text.optional() })
      .optional(),
    lambdaConfig: z
      .object({
        ...aws,
        awsAPIPollingInterval: duration.optional().describe("Default: 15s. From PipeCD v0.49.2."),
      })
      .optional(),
    ecsConfig: z.object(aws).optional().describe(later),
  }),
  "kubernetesConfig",
  "terraformConfig",
  "cloudRunConfig",
  "lambdaConfig",
  "ecsConfig",
);
/** Where applications are deployed. */
export type CloudProvider = z.infer<typeof cloudProvider>;

export const analysisProvider = exactlyOne(
  z.object({
    name: filled,
    prometheus: z
      .object({ address: filled, usernameFile: text.optional(), passwordFile: text.optional() })
      .optional(),
    datadog: z
      .object({
        address: text.optional().describe("Needed up to PipeCD v0.9.0. Default: datadoghq.com."),
        apiKeyFile: text.optional(),
        applicationKeyFile: text.optional(),
        apiKeyData: text
          .optional()
          .describe(`The key itself, in base64. ${inTheOpen} Use apiKeyFile instead. ${keys}`),
        applicationKeyData: text
          .optional()
          .describe(`The key itself, in base64. ${inTheOpen} Use applicationKeyFile instead. ${keys}`),
      })
      .optional(),
    stackdriver: z.object({ serviceAccountFile: filled }).optional(),
  }),
  "prometheus",
  "datadog",
  "stackdriver",
);
/** Where numbers about deployments come from. */
export type AnalysisProvider = z.infer<typeof analysisProvider>;
