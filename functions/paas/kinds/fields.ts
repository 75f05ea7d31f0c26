/** Fields that several kinds share. */
import { cel, objectName, quantity, z } from "denrei/kinds";
import { imageRepository } from "./imagereference.ts";
import { buildEnv, previewBuildEnv } from "./variables.ts";

/** Names of objects become values of labels, and parts of other names. */
export const shortName = cel({
  rule: "size(self.metadata.name) <= 63",
  message: "metadata.name can have at most 63 characters: it becomes the value of a label",
});

const basicResources: readonly string[] = ["cpu", "memory", "ephemeral-storage"];
const isResource = (name: string): boolean =>
  basicResources.includes(name) || name.startsWith("hugepages-") || name.includes("/");
const resourceProblem = `Use ${basicResources.join(", ")}, hugepages-<size>, or a name with a domain, such as example.com/gpu.`;

/** https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#resource-types */
const quantities = z
  .record(z.string(), quantity)
  .superRefine((amounts, context) => {
    for (const name of Object.keys(amounts).filter((one) => !isResource(one)))
      context.addIssue({ code: "custom", path: [name], message: resourceProblem });
  })
  .meta(
    cel({
      rule: `self.all(name, name in ${JSON.stringify(basicResources)} || name.startsWith("hugepages-") || name.contains("/"))`,
      message: resourceProblem,
    }),
  )
  .optional();

/** Resources of a container. */
export const resources = z
  .object({ requests: quantities, limits: quantities })
  .describe("Resource requests and limits of the container.");

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

/** Name of an object, or an empty string for none. */
export const optionalName = z.union([z.literal(""), objectName]).optional();

export const image = z.object({
  name: imageRepository.describe("Registry repository for the images, without a tag."),
  secretName: optionalName.describe(
    "Secret of this namespace with the registry's credentials, to push and to pull.",
  ),
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
export const previewBuild = build.extend({ env: previewBuildEnv.optional() }).describe("Build settings.");

export const revision = z
  .enum(["Head", "Merge"])
  .describe(
    "Which commit of a pull request to build: its last commit (Head), or the result of merging it now (Merge). Default: Merge.",
  );

export { age, conditions, objectName, observedGeneration, ready, time } from "denrei/kinds";
