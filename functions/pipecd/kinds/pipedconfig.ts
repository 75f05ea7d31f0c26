/** What a Piped says of the agent's configuration: one optional field for each variant of a union. */
import { z } from "zod";
import { duration, exactlyOne, filled, inTheOpen, most, text, texts } from "./fields.ts";
import { notifications } from "./notifications.ts";
import { analysisProvider, cloudProvider } from "./providers.ts";

const later = "From PipeCD v0.37.1.";
const older = "Up to PipeCD v0.9.0.";
const ours = "Ignored: it is filled in.";

const git = z
  .object({
    username: text.optional().describe("Who commits. Default: piped."),
    email: text.optional(),
    sshConfigFilePath: text.optional(),
    host: text.optional().describe("Default: github.com."),
    hostName: text.optional().describe("Address of the host. Default: the host."),
    sshKeyFile: text.optional().describe("Path of a file with the private key."),
    sshKeyData: text
      .optional()
      .describe(`The private key itself, in base64. ${inTheOpen} Use sshKeyFile instead. ${later}`),
    password: text
      .optional()
      .describe(
        `Of the user, in base64, for repositories over HTTPS: without a private key. ${inTheOpen} Use SSH and sshKeyFile instead. From PipeCD v0.48.9.`,
      ),
  })
  .describe("How repositories are reached.");

const chartRepository = z.object({
  type: z.enum(["HTTP", "GIT"]).optional().describe(`Default: HTTP. ${later}`),
  name: text.optional(),
  address: text.optional(),
  username: text.optional(),
  password: text.optional().describe(inTheOpen),
  insecure: z.boolean().optional().describe(`Whether certificates are not checked. ${later}`),
  gitRemote: text.optional().describe(later),
  sshKeyFile: text.optional().describe(later),
});

const chartRegistry = z.object({
  type: z.enum(["OCI"]).optional().describe("Default: OCI."),
  address: filled,
  username: text.optional(),
  password: text.optional().describe(inTheOpen),
});

const imageProvider = exactlyOne(
  z.object({
    name: filled,
    dockerhub: z.object({ username: text.optional(), passwordFile: text.optional() }).optional(),
    gcr: z.object({}).optional(),
    ecr: z.object({}).optional(),
  }),
  "dockerhub",
  "gcr",
  "ecr",
);
/** A registry of images. */
export type ImageProvider = z.infer<typeof imageProvider>;

const gcpKMS = z.object({
  keyName: filled,
  decryptServiceAccountFile: filled,
  encryptServiceAccountFile: filled,
});

const sealedSecretManagement = exactlyOne(
  z.object({
    sealingKey: z.object({ privateKeyFile: filled, publicKeyFile: filled }).optional(),
    gcpKMS: gcpKMS.optional(),
  }),
  "sealingKey",
  "gcpKMS",
);
/** How secrets are read up to v0.9.0. */
export type SealedSecretManagement = z.infer<typeof sealedSecretManagement>;

const secretManagement = exactlyOne(
  z.object({
    keyPair: z
      .object({
        privateKeyFile: text.optional(),
        privateKeyData: text
          .optional()
          .describe(`The key itself, in base64. ${inTheOpen} Use privateKeyFile instead.`),
        publicKeyFile: text.optional(),
        publicKeyData: text.optional().describe("The key itself, in base64."),
      })
      .optional(),
    gcpKMS: gcpKMS.optional(),
  }),
  "keyPair",
  "gcpKMS",
);
/** How secrets are read from v0.37.1. */
export type SecretManagement = z.infer<typeof secretManagement>;

const eventWatcher = z.object({
  checkInterval: duration.optional(),
  gitRepos: z
    .array(
      z.object({
        repoId: filled,
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

/** An agent's configuration. */
export const pipedConfig = z.object({
  projectID: text.optional().describe(ours),
  pipedID: text.optional().describe(ours),
  pipedKeyFile: text.optional().describe(ours),
  name: text.optional().describe(`The agent's name. ${later}`),
  apiAddress: filled.describe("Host and port of the control plane's gateway: pipecd:8080."),
  webAddress: text.describe("Address of the control plane for people, for links."),
  syncInterval: duration
    .optional()
    .describe("How often applications are looked at: seconds, or text such as 1m. Default: 1m."),
  appConfigSyncInterval: duration
    .optional()
    .describe(`How often their configuration files are read. Default: 1m. ${later}`),
  git: git.optional(),
  repositories: z
    .array(
      z.object({
        repoId: text.optional().describe("What Applications call it."),
        remote: text.optional().describe("Where it is cloned from."),
        branch: text.optional().describe("What is deployed from."),
      }),
    )
    .max(most)
    .optional()
    .describe("Repositories with applications."),
  chartRepositories: z.array(chartRepository).optional().describe("Where charts of Helm come from."),
  chartRegistries: z.array(chartRegistry).optional().describe(`The same in registries of images. ${later}`),
  cloudProviders: z
    .array(cloudProvider)
    .max(most)
    .optional()
    .describe("Where applications are deployed. kubernetes-default, this cluster, is always there."),
  analysisProviders: z
    .array(analysisProvider)
    .max(most)
    .optional()
    .describe("Where numbers come from that tell whether a deployment is good."),
  notifications: notifications.optional(),
  imageProviders: z.array(imageProvider).max(most).optional().describe(`Registries of images. ${older}`),
  sealedSecretManagement: sealedSecretManagement.optional().describe(older),
  secretManagement: secretManagement.optional().describe(later),
  eventWatcher: eventWatcher.optional().describe(later),
  planPreview: planPreview.optional().describe("From PipeCD v0.56.0."),
  appSelector: z
    .record(z.string(), z.string())
    .optional()
    .describe(`Labels of the applications that the agent looks after. Default: all. ${later}`),
});
export type PipedConfig = z.infer<typeof pipedConfig>;
