/** GitHubApp, ClusterGitHubApp, and Installation: `ghapp.tsuzu.dev/v1alpha1`. Objects of ghapp-controller apply unchanged. */
import {
  age,
  cel,
  conditions,
  dataKey,
  defineKind,
  type ObjectOf,
  observedGeneration,
  ready,
  time,
  z,
} from "denrei/kinds";
import { formats, refusedTypes } from "./formats.ts";
import { apiVersion, group, version } from "./names.ts";
import { levels } from "./policy.ts";

const permissionsSchema = z.record(z.string(), z.string());

const allowedSchema = z
  .object({
    namespaces: z
      .array(z.string())
      .optional()
      .describe("Names of namespaces. * matches any characters, as in team-*. Default: any."),
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
      .describe("Labels of namespaces. Default: any."),
    installationIDs: z
      .array(z.int().min(1))
      .optional()
      .describe("GitHub ids of installations. Default: any."),
    repositories: z
      .array(z.string().regex(/^[^/\s]+\/[^/\s]+$/u))
      .optional()
      .describe(
        "Repositories that a token may access: acme/web, or acme/* for all of an account. Default: any.",
      ),
    permissions: z
      .record(z.string(), z.enum(levels))
      .optional()
      .describe("Maximum permissions of a token. Permissions that are not listed are denied. Default: any."),
  })
  .describe("A rule. All of its fields must match.");

const appSpec = z.object({
  url: z.string().optional().describe("URL of a GitHub Enterprise Server. Default: github.com."),
  appID: z.int().min(1).describe("GitHub id of the App."),
  privateKeySecretRef: z
    .object({
      name: z.string().min(1).describe("Name of the Secret."),
      key: dataKey.describe("Key of the Secret with the PEM text."),
    })
    .describe(
      "Private key of the App. For a GitHubApp the Secret is in the same namespace, for a ClusterGitHubApp in the platform's.",
    ),
  allowed: z
    .array(allowedSchema)
    .optional()
    .describe(
      "Rules for Installations. Each Installation that matches one of them gets tokens. Without rules, a ClusterGitHubApp allows none, and a GitHubApp allows all of its namespace.",
    ),
  statelessTokens: z
    .enum(["enabled", "disabled"])
    .optional()
    .describe("Whether to request stateless tokens. By default GitHub decides."),
});

const appStatus = z.object({
  slug: z.string().optional().describe("Name of the App in URLs."),
  keyFingerprint: z
    .string()
    .optional()
    .describe("Fingerprint of the private key, as shown on the App's page on GitHub."),
  deliveriesCheckedUntil: time
    .optional()
    .describe("All webhooks before this time have arrived, or are too old to be redelivered."),
  observedGeneration,
  conditions: conditions(
    "Ready: the key is valid, and GitHub answers. WebhooksDelivered: all webhooks have arrived.",
  ),
});

const appColumns = [ready, { name: "App", type: "string", jsonPath: ".status.slug" }, age] as const;

/** A GitHub App for Installations in its own namespace. */
export const GitHubApp = defineKind({
  group,
  version,
  kind: "GitHubApp",
  description: "A GitHub App for Installations in its own namespace.",
  writers: "admin",
  shortNames: ["gha"],
  categories: ["ghapp"],
  spec: appSpec,
  status: appStatus,
  columns: appColumns,
});
export type GitHubApp = ObjectOf<typeof GitHubApp>;

/** A GitHub App for Installations in the namespaces that it allows. */
export const ClusterGitHubApp = defineKind({
  group,
  version,
  kind: "ClusterGitHubApp",
  scope: "Cluster",
  description: "A GitHub App for Installations in the namespaces that it allows.",
  shortNames: ["cgha"],
  categories: ["ghapp"],
  spec: appSpec,
  status: appStatus,
  columns: appColumns,
});
export type ClusterGitHubApp = ObjectOf<typeof ClusterGitHubApp>;

const immutable = (what: string) =>
  cel({ rule: "self == oldSelf", message: `${what} cannot be changed: create another Installation` });

const needsKey = "The format raw needs a key.";
const oneRepository = "apiPermissions requires exactly one repository";
const onlyContents = "with apiPermissions, the only allowed value of permissions is contents: read";

const inTheOpen =
  "Not secret: all users who can read the object, and all functions on the bus, can read it. Store other credentials in a separate Secret.";

const refusedType = `Kubernetes grants special rights to Secrets of the types ${refusedTypes.join(" and ")}: use another type`;

const templateSchema = z.object({
  metadata: z
    .object({
      labels: z.record(z.string(), z.string()).optional(),
      annotations: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
  immutable: z
    .boolean()
    .optional()
    .describe("Whether the Secret is immutable. It is then recreated for each token."),
  data: z.record(dataKey, z.string()).optional().describe(`Values in base64. ${inTheOpen}`),
  stringData: z
    .record(dataKey, z.string())
    .optional()
    .describe(`Plain values. {{token}} is replaced by the token. ${inTheOpen}`),
  type: z
    .string()
    .max(253)
    .refine((type) => !refusedTypes.includes(type), refusedType)
    .optional()
    .meta(cel({ rule: `!(self in ${JSON.stringify(refusedTypes)})`, message: refusedType }))
    .describe(
      "Type of the Secret. Default: the type of the format, else Opaque. If the type needs further keys, add them in data or stringData.",
    ),
});

/** An installation of a GitHub App. A Secret of the same name has its token. */
export const Installation = defineKind({
  group,
  version,
  kind: "Installation",
  description:
    "An installation of a GitHub App. Its token is stored in the Secret of the same name, and refreshed before it expires.",
  // The creator of an Installation gets its token.
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
          namespace: z
            .string()
            .optional()
            .describe("Ignored. A GitHubApp is always in the Installation's namespace."),
          uid: z.string().optional().describe("Ignored."),
          resourceVersion: z.string().optional().describe("Ignored."),
          fieldPath: z.string().optional().describe("Ignored."),
        })
        .meta(immutable("appRef"))
        .describe("A GitHubApp of this namespace, or a ClusterGitHubApp."),
      installationID: z
        .int()
        .min(1)
        .meta(immutable("installationID"))
        .describe("GitHub id of the installation."),
      repositoryIDs: z
        .array(z.int().min(1))
        .max(500)
        .optional()
        .describe(
          "GitHub ids of the repositories that the token may access. Default: all of the installation.",
        ),
      repositories: z
        .array(z.string().min(1))
        .max(500)
        .optional()
        .describe("Names of these repositories, without the owner. Set either names or ids."),
      permissions: permissionsSchema
        .optional()
        .describe("Permissions of the token, such as contents: read. Default: all of the installation."),
      apiPermissions: permissionsSchema
        .refine((permissions) => Object.keys(permissions).length > 0, "at least one permission")
        .meta(cel({ rule: "size(self) > 0", message: "apiPermissions needs at least one permission" }))
        .optional()
        .describe(
          "Permissions for previews, such as pull_requests: write and statuses: write. Workers mint such tokens and keep them in memory. The token in the Secret then only has contents: read for one repository.",
        ),
      key: dataKey.optional().describe("Key of the Secret for the token. Required with the format raw."),
      format: z
        .enum(formats)
        .optional()
        .describe(
          "raw: the token under `key` (default). basic-auth: username and password, for git. dockerconfigjson: credentials to pull images from `registry`.",
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
          "Minimum remaining lifetime of the token at its refresh. Set it to the length of the longest build. Default: 600.",
        ),
      template: templateSchema.describe("Other content of the Secret."),
    })
    .refine(({ key, format = "raw" }) => key !== undefined || format !== "raw", {
      path: ["key"],
      error: needsKey,
    })
    .refine(
      ({ repositories, repositoryIDs }) => !(repositories?.length && repositoryIDs?.length),
      "expected either repositories or repositoryIDs",
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
          message: needsKey,
        },
        {
          rule: "!(has(self.repositories) && size(self.repositories) > 0 && has(self.repositoryIDs) && size(self.repositoryIDs) > 0)",
          message: "expected either repositories or repositoryIDs",
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
    ready: z.boolean().optional().describe("Whether the Secret has a valid token."),
    secret: z.string().optional().describe("Name of the Secret."),
    message: z.string().optional().describe("Why the Installation is not ready."),
    expiresAt: time.optional().describe("When the token expires."),
    refreshAt: time
      .optional()
      .describe("When the token is refreshed. A time in the past means that the refresh is overdue."),
    change: z
      .object({
        at: time,
        deliveries: z.array(z.string()).describe("Ids of the webhooks."),
      })
      .optional()
      .describe(
        "The last change of the installation, or of one of its repositories. Older tokens are replaced.",
      ),
    repositories: z
      .array(z.object({ id: z.int(), fullName: z.string() }))
      .optional()
      .describe("The repositories of the spec, with their names on GitHub when the token was minted."),
    observedGeneration,
    conditions: conditions(
      "Ready: the Secret has a valid token. TokenIssued: GitHub issued the requested token.",
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
