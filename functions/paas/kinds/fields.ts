/** Fields that several kinds share. */
import { cel, listMap, objectName, quantity, z } from "denrei/kinds";

/** Names of objects become values of labels, and parts of other names. */
export const shortName = cel({
  rule: "size(self.metadata.name) <= 63",
  message: "metadata.name can have at most 63 characters: it becomes the value of a label",
});

const quantities = z.record(z.string(), quantity).optional();

/** Resources of a container. */
export const resources = z
  .object({ requests: quantities, limits: quantities })
  .describe("Resource requests and limits of the container.");

const keyRef = z.object({ name: objectName, key: z.string().min(1), optional: z.boolean().optional() });

const variableNamePattern = /^([-_a-zA-Z]|\.[-_a-zA-Z0-9])[-._a-zA-Z0-9]*$/;
const variableNameProblem =
  "expected the name of an environment variable: letters, digits, -, _, and ., not starting with a digit";

/**
 * Name of an environment variable, of builds and of applications. Every supported Kubernetes accepts these names in pods; newer
 * versions accept more: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#environment-variables
 */
export const variableName = z.string().max(253).regex(variableNamePattern, variableNameProblem);

/** Environment variables of an application. */
export const env = z
  .array(
    z.object({
      name: variableName,
      value: z.string().optional(),
      valueFrom: z
        .object({ secretKeyRef: keyRef.optional(), configMapKeyRef: keyRef.optional() })
        .refine(
          ({ secretKeyRef, configMapKeyRef }) =>
            (secretKeyRef === undefined) !== (configMapKeyRef === undefined),
          "expected either secretKeyRef or configMapKeyRef",
        )
        .meta(
          cel({
            rule: "has(self.secretKeyRef) != has(self.configMapKeyRef)",
            message: "expected either secretKeyRef or configMapKeyRef",
          }),
        )
        .optional(),
    }),
  )
  .meta(listMap("name"))
  .describe("Environment variables. PORT is always set.");

const ref = z.object({ name: objectName, optional: z.boolean().optional() });

export const envFrom = z
  .array(
    z.object({
      prefix: z.union([z.literal(""), variableName]).optional(),
      secretRef: ref.optional(),
      configMapRef: ref.optional(),
    }),
  )
  .describe("Secrets and ConfigMaps whose keys all become environment variables.");

const buildVariable = z.object({ name: variableName, value: z.string().optional() });

/** Environment variables of a build. kpack accepts no references to Secrets here. */
export const buildEnv = z
  .array(buildVariable)
  .describe("Environment variables of the build, such as BP_NODE_VERSION.");

/** Names on GitHub: https://docs.github.com/en/rest/repos/repos */
export const owner = z
  .string()
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9_])?$/)
  .describe("Login of the repository's owner.");
export const repo = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,100}$/)
  .describe("Name of the repository, without its owner.");
export const tokenSecret = objectName.describe(
  "Secret of this namespace with a GitHub token under the key password. An Installation with the format basic-auth and the annotation kpack.io/git maintains one.",
);

/** A repository of a registry, without tag and digest: https://github.com/distribution/reference */
export const imageRepository = z
  .string()
  .regex(
    /^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?(:[0-9]+)?\/)?[a-z0-9]+((\.|__?|-+)[a-z0-9]+)*(\/[a-z0-9]+((\.|__?|-+)[a-z0-9]+)*)*$/,
    "expected a repository of a registry, without a tag, such as registry.example.com/acme/web",
  )
  .describe("Registry repository for the images, without a tag.");

export const image = z.object({
  name: imageRepository,
  secretName: z
    .string()
    .max(253)
    .optional()
    .describe("Secret of this namespace with the registry's credentials, to push and to pull."),
});

/** The repository that a name in a spec resolved to. */
export const knownRepository = z
  .object({
    name: z.string().describe("The name in the spec, in lower case."),
    id: z.int().describe("GitHub id of the repository, which survives renames and transfers."),
    fullName: z.string().describe("Current full name on GitHub."),
  })
  .describe("Repository that spec.base.github resolved to.");
export type KnownRepository = z.infer<typeof knownRepository>;

const duration = /^([0-9]+(s|m|h|d))+$/;
/** A duration as users write it. */
export const durationText = z.string().regex(duration);

const unitMillis: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Milliseconds of a duration that fits {@link durationText}. */
export const millisOf = (text: string): number =>
  [...text.matchAll(/([0-9]+)([smhd])/g)].reduce(
    (sum, [, count, unit = ""]) => sum + Number(count) * (unitMillis[unit] ?? 0),
    0,
  );

/** The builder of the images: a Builder of this namespace, or a ClusterBuilder. */
export const builder = z
  .object({ kind: z.enum(["Builder", "ClusterBuilder"]), name: objectName })
  .describe("kpack builder. Default: the site's builder, else the ClusterBuilder named default.");

/** Build settings. */
export const build = z
  .object({
    env: buildEnv.optional(),
    resources: resources.optional(),
    cacheSize: quantity.optional().describe("Size of the cache volume, such as 2G."),
    timeoutSeconds: z.int32().min(1).optional().describe("Time limit of a build."),
  })
  .describe("Build settings.");

/** Build settings of previews, some of which run code of forks. */
export const previewBuild = build
  .extend({
    env: z
      .array(
        buildVariable.extend({
          forks: z
            .boolean()
            .optional()
            .describe(
              "Whether builds of forks get the variable too. Their code can send it anywhere. Default: false, also for approved commits.",
            ),
        }),
      )
      .optional()
      .describe(
        "Environment variables of the builds, such as BP_NODE_VERSION. Builds of forks get only those with forks: true.",
      ),
  })
  .describe("Build settings.");

export const revision = z
  .enum(["Head", "Merge"])
  .describe(
    "Which commit of a pull request to build: its last commit (Head), or the result of merging it now (Merge). Default: Merge.",
  );

export { age, conditions, objectName, observedGeneration, ready, time } from "denrei/kinds";
