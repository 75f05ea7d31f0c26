/** GitHubApp, ClusterGitHubApp and Installation: `ghapp.tsuzu.dev/v1alpha1`. Objects of ghapp-controller apply unchanged. */
import { z } from "zod";
import { cel } from "../../bus/kube/crd.ts";
import { age, conditions, observedGeneration, ready, time } from "../../bus/kube/fields.ts";
import { defineKind, type ObjectOf } from "../../bus/kube/kind.ts";
import { formats, refusedTypes } from "./formats.ts";
import { apiVersion, group, version } from "./names.ts";
import { levels } from "./policy.ts";

/** Keys of a Secret, as the API server takes them. */
const secretKey = z
  .string()
  .regex(/^[-._a-zA-Z0-9]+$/)
  .max(253);

const permissionsSchema = z.record(z.string(), z.string());

const allowedSchema = z
  .object({
    namespaces: z
      .array(z.string())
      .optional()
      .describe("Names of namespaces; `*` stands for any letters: team-*. Without it, any."),
    namespaceSelector: z
      .object({
        matchLabels: z.record(z.string(), z.string()).optional(),
        matchExpressions: z
          .array(
            z.object({
              key: z.string(),
              operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]),
              values: z.array(z.string()).optional(),
            }),
          )
          .optional(),
      })
      .optional()
      .describe("Labels of namespaces. Without it, any."),
    installationIDs: z
      .array(z.int().min(1))
      .optional()
      .describe("GitHub's ids of installations. Without it, any."),
    repositories: z
      .array(z.string().regex(/^[^/\s]+\/[^/\s]+$/u))
      .optional()
      .describe(
        "Repositories a token may be good for: acme/web, or acme/* for all of them. Without it, any.",
      ),
    permissions: z
      .record(z.string(), z.enum(levels))
      .optional()
      .describe("The most that a token may do: what is not named here it may not. Without it, anything."),
  })
  .describe("Everything in a rule has to hold; what it leaves out is allowed.");

const appSpec = z.object({
  url: z.string().optional().describe("Address of a GitHub Enterprise Server. Empty: github.com."),
  appID: z.int().min(1).describe("GitHub's id of the App."),
  privateKeySecretRef: z
    .object({
      name: z.string().min(1).describe("Name of the Secret."),
      key: secretKey.describe("Which of its keys holds the PEM text."),
    })
    .describe(
      "The App's private key. Of a GitHubApp in its namespace, of a ClusterGitHubApp in that of the platform.",
    ),
  allowed: z
    .array(allowedSchema)
    .optional()
    .describe(
      "Which Installations may have tokens: those that one of the rules allows. A ClusterGitHubApp without rules allows none; a GitHubApp without rules all that are in its namespace.",
    ),
  statelessTokens: z
    .enum(["enabled", "disabled"])
    .optional()
    .describe("Asks GitHub for tokens of one form or the other. Without it, GitHub decides."),
});

const appStatus = z.object({
  slug: z.string().optional().describe("The App's name in addresses."),
  keyFingerprint: z
    .string()
    .optional()
    .describe("Fingerprint of the private key, as the App's page on GitHub shows it."),
  deliveriesCheckedUntil: time
    .optional()
    .describe("Every webhook that was delivered before has arrived, or is too old to be delivered again."),
  observedGeneration,
  conditions: conditions(
    "Ready: the key is good, and GitHub answers. WebhooksDelivered: what did not arrive was asked for again.",
  ),
});

const appColumns = [ready, { name: "App", type: "string", jsonPath: ".status.slug" }, age] as const;

/** A GitHub App, for Installations of its own namespace. */
export const GitHubApp = defineKind({
  group,
  version,
  kind: "GitHubApp",
  description: "A GitHub App whose tokens are for Installations of its own namespace.",
  writers: "admin",
  shortNames: ["gha"],
  categories: ["ghapp"],
  spec: appSpec,
  status: appStatus,
  columns: appColumns,
});
export type GitHubApp = ObjectOf<typeof GitHubApp>;

/** A GitHub App for Installations of the namespaces that it allows. */
export const ClusterGitHubApp = defineKind({
  group,
  version,
  kind: "ClusterGitHubApp",
  scope: "Cluster",
  description: "A GitHub App whose tokens are for Installations of the namespaces that it allows.",
  shortNames: ["cgha"],
  categories: ["ghapp"],
  spec: appSpec,
  status: appStatus,
  columns: appColumns,
});
export type ClusterGitHubApp = ObjectOf<typeof ClusterGitHubApp>;

const immutable = (what: string) =>
  cel({ rule: "self == oldSelf", message: `${what} can not be changed: create another Installation` });

const oneRepository = "with apiPermissions, exactly one repository has to be named";
const onlyContents = "with apiPermissions, permissions can only be contents: read";

const inTheOpen =
  "Not kept secret: everyone who may read the object sees it, and every function on the bus. Put other credentials in a Secret of their own.";

const refusedType = `Kubernetes gives Secrets of the types ${refusedTypes.join(" and ")} rights of their own: use another type`;

const templateSchema = z.object({
  metadata: z
    .object({
      labels: z.record(z.string(), z.string()).optional(),
      annotations: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
  immutable: z.boolean().optional().describe("Then the Secret is made anew with each token."),
  data: z.record(secretKey, z.string()).optional().describe(`Values in base64. ${inTheOpen}`),
  stringData: z
    .record(secretKey, z.string())
    .optional()
    .describe(`Plain values; {{token}} in them stands for the token. ${inTheOpen}`),
  type: z
    .string()
    .max(253)
    .refine((type) => !refusedTypes.includes(type), refusedType)
    .optional()
    .meta(cel({ rule: `!(self in ${JSON.stringify(refusedTypes)})`, message: refusedType }))
    .describe(
      "Type of the Secret. Default: what the format needs, else Opaque. The API server may want further keys with it, which data and stringData add.",
    ),
});

/** An installation of a GitHub App, whose token is kept in a Secret of the same name. */
export const Installation = defineKind({
  group,
  version,
  kind: "Installation",
  description:
    "An installation of a GitHub App. Its token is kept in the Secret of the same name, and refreshed in time.",
  // Whoever makes one has its token.
  writers: "admin",
  shortNames: ["ghinst"],
  categories: ["ghapp"],
  spec: z
    .object({
      appRef: z
        .object({
          apiVersion: z.enum(["", apiVersion]).optional(),
          kind: z.enum(["GitHubApp", "ClusterGitHubApp"]),
          name: z.string().min(1),
          namespace: z.string().optional().describe("Ignored: a GitHubApp is looked for in this namespace."),
          uid: z.string().optional().describe("Ignored."),
          resourceVersion: z.string().optional().describe("Ignored."),
          fieldPath: z.string().optional().describe("Ignored."),
        })
        .meta(immutable("appRef"))
        .describe("The App: a GitHubApp of this namespace, or a ClusterGitHubApp."),
      installationID: z
        .int()
        .min(1)
        .meta(immutable("installationID"))
        .describe("GitHub's id of the installation."),
      repositoryIDs: z
        .array(z.int().min(1))
        .max(500)
        .optional()
        .describe(
          "The token is good for these repositories alone, by their ids. Without them, for all of the installation.",
        ),
      repositories: z
        .array(z.string().min(1))
        .max(500)
        .optional()
        .describe("The same by name: web, without the owner. Either names or ids."),
      permissions: permissionsSchema
        .optional()
        .describe("What the token may do: contents: read. Without it, all that the installation may."),
      apiPermissions: permissionsSchema
        .refine((permissions) => Object.keys(permissions).length > 0, "at least one permission")
        .meta(cel({ rule: "size(self) > 0", message: "apiPermissions needs at least one permission" }))
        .optional()
        .describe(
          "What previews may do at GitHub: pull_requests: write, statuses: write. Their tokens are made in the memory of a worker. The token in the Secret then reads the contents of one repository, and no more.",
        ),
      key: secretKey
        .optional()
        .describe("Which key of the Secret gets the token. Needed with the format raw."),
      format: z
        .enum(formats)
        .optional()
        .describe(
          "raw: the token under `key` (default). basic-auth: username and password, for git. dockerconfigjson: for pulling images from `registry`.",
        ),
      registry: z
        .string()
        .min(1)
        .optional()
        .describe("Host of the registry, for dockerconfigjson. Default: ghcr.io."),
      refreshBeforeSeconds: z
        .int()
        .min(0)
        .max(3000)
        .optional()
        .describe(
          "How long before its end the token is refreshed, at least: as long as the longest build. Default: 600.",
        ),
      template: templateSchema.describe("What else the Secret has."),
    })
    .refine(
      ({ key, format = "raw" }) => key !== undefined || format !== "raw",
      "key is needed with the format raw",
    )
    .refine(
      ({ repositories, repositoryIDs }) => !(repositories?.length && repositoryIDs?.length),
      "either repositories or repositoryIDs",
    )
    .refine(
      ({ apiPermissions, repositories = [], repositoryIDs = [] }) =>
        apiPermissions === undefined || repositories.length + repositoryIDs.length === 1,
      oneRepository,
    )
    .refine(
      ({ apiPermissions, permissions }) =>
        apiPermissions === undefined ||
        permissions === undefined ||
        Object.entries(permissions).every(([name, level]) => name === "contents" && level === "read"),
      onlyContents,
    )
    .meta(
      cel(
        {
          rule: "has(self.key) || (has(self.format) && self.format != 'raw')",
          message: "key is needed with the format raw",
        },
        {
          rule: "!(has(self.repositories) && size(self.repositories) > 0 && has(self.repositoryIDs) && size(self.repositoryIDs) > 0)",
          message: "either repositories or repositoryIDs",
        },
        {
          rule: "!has(self.apiPermissions) || (has(self.repositories) ? size(self.repositories) : 0) + (has(self.repositoryIDs) ? size(self.repositoryIDs) : 0) == 1",
          message: oneRepository,
        },
        {
          rule: "!has(self.apiPermissions) || !has(self.permissions) || size(self.permissions) == 0 || (size(self.permissions) == 1 && 'contents' in self.permissions && self.permissions['contents'] == 'read')",
          message: onlyContents,
        },
      ),
    ),
  status: z.object({
    ready: z.boolean().optional().describe("The Secret has a token that is good."),
    secret: z.string().optional().describe("Name of the Secret."),
    message: z.string().optional().describe("Why it is not ready."),
    expiresAt: time.optional().describe("When the token ends."),
    refreshAt: time
      .optional()
      .describe(
        "When it is refreshed; in the past, since when another one is due that has not been made yet.",
      ),
    change: z
      .object({
        at: time,
        deliveries: z.array(z.string()).describe("Ids of the webhooks."),
      })
      .optional()
      .describe(
        "The last change of the installation, or of one of its repositories. Tokens that were made before it are replaced.",
      ),
    repositories: z
      .array(z.object({ id: z.int(), fullName: z.string() }))
      .optional()
      .describe("The repositories of the spec, as GitHub called them when the token was made."),
    observedGeneration,
    conditions: conditions(
      "Ready: the Secret has a token that is good. TokenIssued: GitHub gave the one that is wanted.",
    ),
  }),
  columns: [
    ready,
    { name: "Secret", type: "string", jsonPath: ".status.secret" },
    { name: "Expires", type: "string", jsonPath: ".status.expiresAt" },
    age,
  ],
});
export type Installation = ObjectOf<typeof Installation>;
