/** `spec.config` of a Piped. Unions have one optional field per variant. */
import { z } from "denrei/kinds";
import { duration, exactlyOne, maxEntries, nonEmpty, plaintextWarning, text, texts } from "./fields.ts";
import { notifications } from "./notifications.ts";
import { analysisProvider, cloudProvider } from "./providers.ts";

const later = "Since PipeCD v0.37.1.";
const older = "Up to PipeCD v0.9.0.";
const setByDenrei = "Ignored: Denrei sets it.";

const git = z
  .object({
    username: text.optional().describe("Name of the committer. Default: piped."),
    email: text.optional(),
    sshConfigFilePath: text.optional(),
    host: text.optional().describe("Default: github.com."),
    hostName: text.optional().describe("Address of the host. Default: the host."),
    sshKeyFile: text.optional().describe("Path of a file with the private key."),
    sshKeyData: text
      .optional()
      .describe(`The private key in base64. ${plaintextWarning} Use sshKeyFile instead. ${later}`),
    password: text
      .optional()
      .describe(
        `The user's password in base64, for repositories over HTTPS without a private key. ${plaintextWarning} Use SSH and sshKeyFile instead. Since PipeCD v0.48.9.`,
      ),
  })
  .describe("Access to Git repositories.");

const chartRepository = z.object({
  type: z.enum(["HTTP", "GIT"]).optional().describe(`Default: HTTP. ${later}`),
  name: text.optional(),
  address: text.optional(),
  username: text.optional(),
  password: text.optional().describe(plaintextWarning),
  insecure: z.boolean().optional().describe(`Whether to skip certificate verification. ${later}`),
  gitRemote: text.optional().describe(later),
  sshKeyFile: text.optional().describe(later),
});

const chartRegistry = z.object({
  type: z.enum(["OCI"]).optional().describe("Default: OCI."),
  address: nonEmpty,
  username: text.optional(),
  password: text.optional().describe(plaintextWarning),
});

const imageProvider = exactlyOne(
  z.object({
    name: nonEmpty,
    dockerhub: z.object({ username: text.optional(), passwordFile: text.optional() }).optional(),
    gcr: z.object({}).optional(),
    ecr: z.object({}).optional(),
  }),
  "dockerhub",
  "gcr",
  "ecr",
);
/** A container registry. */
export type ImageProvider = z.infer<typeof imageProvider>;

const gcpKMS = z.object({
  keyName: nonEmpty,
  decryptServiceAccountFile: nonEmpty,
  encryptServiceAccountFile: nonEmpty,
});

const sealedSecretManagement = exactlyOne(
  z.object({
    sealingKey: z.object({ privateKeyFile: nonEmpty, publicKeyFile: nonEmpty }).optional(),
    gcpKMS: gcpKMS.optional(),
  }),
  "sealingKey",
  "gcpKMS",
);
/** Secret decryption up to v0.9.0. */
export type SealedSecretManagement = z.infer<typeof sealedSecretManagement>;

const secretManagement = exactlyOne(
  z.object({
    keyPair: z
      .object({
        privateKeyFile: text.optional(),
        privateKeyData: text
          .optional()
          .describe(`The key in base64. ${plaintextWarning} Use privateKeyFile instead.`),
        publicKeyFile: text.optional(),
        publicKeyData: text.optional().describe("The key in base64."),
      })
      .optional(),
    gcpKMS: gcpKMS.optional(),
  }),
  "keyPair",
  "gcpKMS",
);
/** Secret decryption from v0.37.1. */
export type SecretManagement = z.infer<typeof secretManagement>;

const eventWatcher = z.object({
  checkInterval: duration.optional(),
  gitRepos: z
    .array(
      z.object({
        repoId: nonEmpty,
        commitMessage: text.optional(),
        includes: texts.optional(),
        excludes: texts.optional(),
      }),
    )
    .optional(),
});

const planPreview = z.object({
  workerNum: z.int().min(0).optional(),
  commandQueueBufferSize: z.int().min(0).optional(),
  commandCheckInterval: duration.optional(),
  commandHandleTimeout: duration.optional(),
});

/** Schema of `spec.config`. */
export const pipedConfig = z.object({
  projectID: text.optional().describe(setByDenrei),
  pipedID: text.optional().describe(setByDenrei),
  pipedKeyFile: text.optional().describe(setByDenrei),
  name: text.optional().describe(`The agent's name. ${later}`),
  apiAddress: nonEmpty.describe("Host and port of the control plane's gateway: pipecd:8080."),
  webAddress: text.describe("Public address of the control plane, for links."),
  syncInterval: duration
    .optional()
    .describe("Interval for checking applications: seconds, or text such as 1m. Default: 1m."),
  appConfigSyncInterval: duration
    .optional()
    .describe(`Interval for reading the configuration files of applications. Default: 1m. ${later}`),
  git: git.optional(),
  repositories: z
    .array(
      z.object({
        repoId: text.optional().describe("Name in spec.repository of Applications."),
        remote: text.optional().describe("URL to clone from."),
        branch: text.optional().describe("Branch to deploy."),
      }),
    )
    .max(maxEntries)
    .optional()
    .describe("Repositories with applications."),
  chartRepositories: z.array(chartRepository).optional().describe("Repositories of Helm charts."),
  chartRegistries: z.array(chartRegistry).optional().describe(`OCI registries of Helm charts. ${later}`),
  cloudProviders: z
    .array(cloudProvider)
    .max(maxEntries)
    .optional()
    .describe("Platforms to deploy to. kubernetes-default, this cluster, always exists."),
  analysisProviders: z
    .array(analysisProvider)
    .max(maxEntries)
    .optional()
    .describe("Sources of metrics for deployment analysis."),
  notifications: notifications.optional(),
  imageProviders: z
    .array(imageProvider)
    .max(maxEntries)
    .optional()
    .describe(`Container registries. ${older}`),
  sealedSecretManagement: sealedSecretManagement.optional().describe(older),
  secretManagement: secretManagement.optional().describe(later),
  eventWatcher: eventWatcher.optional().describe(later),
  planPreview: planPreview.optional().describe("Since PipeCD v0.56.0."),
  appSelector: z
    .record(z.string(), z.string())
    .optional()
    .describe(`Labels of the applications that the agent deploys. Default: all applications. ${later}`),
});
export type PipedConfig = z.infer<typeof pipedConfig>;
