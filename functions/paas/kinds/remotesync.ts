/** RemoteSync: keeps an Application's image built from a branch, a pull request or a commit. */
import { z } from "zod";
import { defineKind, type ObjectOf } from "../../../bus/kube/kind.ts";
import { group, version } from "../names.ts";
import {
  age,
  build,
  builder,
  conditions,
  image,
  knownRepository,
  objectName,
  observedGeneration,
  owner,
  ready,
  repo,
  revision,
  shortName,
  time,
  tokenSecret,
} from "./fields.ts";

/** Keeps an Application's image built from a branch, a pull request or a commit. */
export const RemoteSync = defineKind({
  group,
  version,
  kind: "RemoteSync",
  description:
    "Keeps an Application's image built from a branch, a pull request or a commit of a repository.",
  shortNames: ["rsync"],
  categories: ["modoki"],
  rules: shortName,
  spec: z.object({
    applicationRef: z
      .object({ name: objectName })
      .describe("The Application of this namespace whose image it is."),
    base: z.object({
      github: z.object({
        owner,
        repo,
        sha: z
          .string()
          .max(255)
          .regex(/^\S*$/, "expected a commit id, without spaces")
          .optional()
          .describe(
            "This commit, and no other: 40 hexadecimal digits. Counts before pullRequest and branch. Deprecated: a tag, or the first digits of a commit id.",
          ),
        pullRequest: z
          .int()
          .min(0)
          .optional()
          .describe("The commit of this pull request. Counts before branch. 0: none."),
        branch: z.string().max(255).optional().describe("The tip of this branch. Default: the repository's."),
        secretName: tokenSecret,
      }),
      subPath: z.string().optional().describe("Folder of the repository that is built."),
    }),
    image,
    revision: revision.optional(),
    paused: z.boolean().optional().describe("Leaves all as it is."),
    build: build.optional(),
    builder: builder.optional(),
  }),
  status: z.object({
    message: z.string().optional().describe("What keeps it from being ready."),
    warning: z
      .string()
      .optional()
      .describe("A problem while the Application runs the wanted commit: a rebuild that failed."),
    repository: knownRepository.optional(),
    revision: z.string().optional().describe("The commit that is wanted."),
    ref: z.string().optional().describe("What it is the commit of: a branch, a pull request."),
    baseBranch: z.string().optional().describe("Where the pull request is to be merged."),
    headSHA: z.string().optional().describe("The last commit of the pull request."),
    askedHeadSHA: z.string().optional().describe("The annotation head-sha that GitHub was last asked with."),
    refreshedAt: z.string().optional().describe("The annotation refreshed-at that was last answered."),
    imageRecreated: z.string().optional().describe("The annotation recreate-image that was last answered."),
    refusedSettings: z
      .object({
        digest: z.string().describe("Of the settings."),
        keeps: z.enum(["cache", "settings"]).describe("Which settings the Image keeps."),
        reason: z.string(),
        message: z.string(),
        retryAt: time.describe("When kpack is asked again."),
      })
      .optional()
      .describe("Build settings that kpack refuses for the Image that it has."),
    askAgainAt: time.optional().describe("When GitHub is asked again, where it could not say."),
    source: z.string().optional().describe("What the revision is of: of another source it says nothing."),
    imageName: z.string().optional().describe("Name of kpack's Image."),
    buildRef: z.string().optional().describe("Name of the Build of the revision."),
    buildNumber: z.int().optional().describe("Its number."),
    retries: z.int().optional().describe("How often a Build of the revision was tried again."),
    latestImage: z.string().optional().describe("The newest image of the revision, with its digest."),
    latestImageRevision: z.string().optional().describe("The commit that latestImage was built from."),
    lastFailure: z
      .object({
        build: z.string(),
        uid: z.string(),
        revision: z.string(),
        step: z.string().optional(),
        message: z.string(),
        log: z.string().optional(),
        time,
      })
      .optional()
      .describe("The last Build that failed: where, why, and the end of its log."),
    observedGeneration,
    conditions: conditions(
      "SourceResolved: the commit is known. Built: there is an image of it. Deployed: the Application has it. Ready: all three. SettingsApplied: kpack has the build settings of the spec; present once it has refused some. Deprecated: fields of the spec that count for nothing; present once there were some.",
    ),
  }),
  columns: [
    ready,
    { name: "Repo", type: "string", jsonPath: ".spec.base.github.repo" },
    { name: "Ref", type: "string", jsonPath: ".status.ref" },
    { name: "Revision", type: "string", jsonPath: ".status.revision" },
    { name: "Build", type: "integer", jsonPath: ".status.buildNumber" },
    age,
  ],
});
export type RemoteSync = ObjectOf<typeof RemoteSync>;
