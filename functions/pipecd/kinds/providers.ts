/** Providers of a Piped: platforms to deploy to, and sources of metrics. */
import { z } from "denrei/kinds";
import { duration, exactlyOne, nonEmpty, plaintextWarning, text, texts } from "./fields.ts";

const later = "Since PipeCD v0.37.1.";
const keys = "Since PipeCD v0.45.0.";
const matchers = z
  .array(z.object({ apiVersion: nonEmpty, kind: text.optional().describe("Default: all kinds.") }))
  .optional();

/** A Kubernetes cluster to deploy to. */
export const kubernetesFields = {
  masterURL: text.optional().describe("Default: this cluster."),
  kubeConfigPath: text.optional(),
  kubectlVersion: text.optional().describe("Since PipeCD v0.41.0."),
  appStateInformer: z
    .object({
      namespace: text.optional().describe("Default: all namespaces."),
      includeResources: matchers,
      excludeResources: matchers,
    })
    .optional()
    .describe("Resources that the agent watches."),
};

const aws = {
  region: nonEmpty,
  credentialsFile: text.optional().describe(later),
  roleARN: text.optional().describe(later),
  tokenFile: text.optional().describe(later),
  profile: text.optional().describe(later),
};

export const cloudProvider = exactlyOne(
  z.object({
    name: nonEmpty,
    labels: z.record(z.string(), z.string()).optional().describe(later),
    kubernetesConfig: z.object(kubernetesFields).optional(),
    terraformConfig: z
      .object({
        vars: texts.optional().describe("Variables as name=value."),
        driftDetectionEnabled: z.boolean().optional().describe("Default: true. Since PipeCD v0.45.0."),
      })
      .optional(),
    cloudRunConfig: z
      .object({ project: nonEmpty, region: nonEmpty, credentialsFile: text.optional() })
      .optional(),
    lambdaConfig: z
      .object({
        ...aws,
        awsAPIPollingInterval: duration.optional().describe("Default: 15s. Since PipeCD v0.49.2."),
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
/** A platform to deploy to. */
export type CloudProvider = z.infer<typeof cloudProvider>;

export const analysisProvider = exactlyOne(
  z.object({
    name: nonEmpty,
    prometheus: z
      .object({ address: nonEmpty, usernameFile: text.optional(), passwordFile: text.optional() })
      .optional(),
    datadog: z
      .object({
        address: text.optional().describe("Required up to PipeCD v0.9.0. Default: datadoghq.com."),
        apiKeyFile: text.optional(),
        applicationKeyFile: text.optional(),
        apiKeyData: text
          .optional()
          .describe(`The key in base64. ${plaintextWarning} Use apiKeyFile instead. ${keys}`),
        applicationKeyData: text
          .optional()
          .describe(`The key in base64. ${plaintextWarning} Use applicationKeyFile instead. ${keys}`),
      })
      .optional(),
    stackdriver: z.object({ serviceAccountFile: nonEmpty }).optional(),
  }),
  "prometheus",
  "datadog",
  "stackdriver",
);
/** A source of metrics for deployment analysis. */
export type AnalysisProvider = z.infer<typeof analysisProvider>;
