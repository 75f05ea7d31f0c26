/** RemoteSync: keeps an Application's image built from a branch, a pull request, or a commit. */
import { defineKind, type ObjectOf, z } from "denrei/kinds";
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

/** Keeps an Application's image built from a branch, a pull request, or a commit. */
export const RemoteSync = defineKind({
  group,
  version,
  kind: "RemoteSync",
  description:
    "Keeps an Application's image built from a branch, a pull request, or a commit of a repository.",
  shortNames: ["rsync"],
  categories: ["modoki"],
  rules: shortName,
  spec: z.object({
    applicationRef: z
      .object({ name: objectName })
      .describe("Application of this namespace that gets the image."),
    base: z.object({
      github: z.object({
        owner,
        repo,
        sha: z
          .string()
          .max(255)
          .regex(/^\S*$/, "Enter a commit ID without spaces.")
          .optional()
          .describe(
            "Commit to build, 40 hexadecimal digits. Takes precedence over pullRequest and branch. Deprecated: a tag, or the first digits of a commit id.",
          ),
        pullRequest: z
          .int()
          .min(0)
          .optional()
          .describe("Pull request to build. Takes precedence over branch. 0: none."),
        branch: z
          .string()
          .max(255)
          .optional()
          .describe("Branch to build. Default: the repository's default branch."),
        secretName: tokenSecret,
      }),
      subPath: z.string().optional().describe("Folder of the repository to build."),
    }),
    image,
    revision: revision.optional(),
    paused: z.boolean().optional().describe("Suspends reconciliation."),
    build: build.optional(),
    builder: builder.optional(),
  }),
  status: z.object({
    message: z.string().optional().describe("Why the RemoteSync is not ready."),
    warning: z
      .string()
      .optional()
      .describe(
        "Problem that occurred although the Application runs the desired commit, such as a failed rebuild.",
      ),
    repository: knownRepository.optional(),
    revision: z.string().optional().describe("Commit to deploy."),
    ref: z.string().optional().describe("Branch or pull request of the commit."),
    baseBranch: z.string().optional().describe("Branch that the pull request targets."),
    headSHA: z.string().optional().describe("Last commit of the pull request."),
    askedHeadSHA: z
      .string()
      .optional()
      .describe("Value of the annotation head-sha at the last request to GitHub."),
    refreshedAt: z
      .string()
      .optional()
      .describe("Value of the annotation refreshed-at that was last handled."),
    imageRecreated: z
      .string()
      .optional()
      .describe("Value of the annotation recreate-image that was last handled."),
    refusedSettings: z
      .object({
        digest: z.string().describe("Digest of the settings."),
        kept: z.enum(["cache", "settings"]).describe("Settings that the Image keeps."),
        reason: z.string(),
        message: z.string(),
        retryAt: time.describe("When the settings are applied again."),
      })
      .optional()
      .describe("Build settings that kpack refuses for the existing Image."),
    retryAt: time.optional().describe("When GitHub is asked again after it could not answer."),
    source: z
      .string()
      .optional()
      .describe("Source that the revision was resolved from. The revision is void for another source."),
    imageName: z.string().optional().describe("Name of the kpack Image."),
    buildRef: z.string().optional().describe("Name of the Build of the revision."),
    buildNumber: z.int().optional().describe("Number of that Build."),
    retries: z.int().optional().describe("How often a Build of the revision was retried."),
    latestImage: z.string().optional().describe("Newest image of the revision, with its digest."),
    latestImageRevision: z.string().optional().describe("Commit that latestImage was built from."),
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
      .describe("Last failed Build: the step, the reason, and the end of its log."),
    observedGeneration,
    conditions: conditions(
      "SourceResolved: the commit is known. Built: the commit has an image. Deployed: the Application has that image. Ready: all three. SettingsApplied: kpack accepted the build settings of the spec; present once it has refused some. Deprecated: the spec sets deprecated fields; present once it did.",
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
