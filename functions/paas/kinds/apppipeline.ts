/** AppPipeline: a preview for each open pull request of a repository. */
import { z } from "zod";
import { defineKind, type ObjectOf } from "../../../bus/kube/kind.ts";
import { group, version } from "../names.ts";
import { runtime } from "./application.ts";
import {
  age,
  builder,
  conditions,
  durationText,
  image,
  knownRepository,
  observedGeneration,
  owner,
  previewBuild,
  ready,
  repo,
  revision,
  shortName,
  time,
  tokenSecret,
} from "./fields.ts";

/** What can become of a pull request's preview. */
export const phases = [
  "Waiting",
  "NeedsApproval",
  "Expired",
  "Resolving",
  "Building",
  "Deploying",
  "Ready",
  "Failed",
] as const;

const previewSchema = z.object({
  number: z.int().describe("Of the pull request."),
  headSHA: z.string().describe("Its last commit."),
  headRef: z.string().optional().describe("Its branch."),
  slug: z.string().optional().describe("The branch as a DNS label, which no other preview has."),
  baseRef: z.string().optional().describe("The branch that it is to be merged into."),
  fork: z.string().optional().describe("The repository that it comes from, if that is another one."),
  labelled: z.boolean().optional().describe("Of one from a fork: whether it has the label that approves."),
  approvedSHA: z.string().optional().describe("The commit of a fork that somebody has approved."),
  approvedBy: z.string().optional().describe("Login of who approved it."),
  approvedWith: z.enum(["label", "review"]).optional().describe("How they did."),
  approvedAt: time.optional().describe("GitHub's time when the label was given that approves it."),
  approvalProblem: z.string().optional().describe("Why the label does not approve the last commit."),
  headSeenAt: time
    .optional()
    .describe(
      "Of a fork: GitHub's time when its last commit was first seen. A label that is older is for another one.",
    ),
  since: time.describe("When its last commit was first seen."),
  phase: z.enum(phases),
  application: z.string().optional().describe("Name of its Application and its RemoteSync."),
  url: z.string().optional().describe("Where it is reached."),
  message: z.string().optional().describe("What keeps it from being ready."),
  warning: z.string().optional().describe("A problem of a preview that is ready: a rebuild that failed."),
});

/** A preview for each open pull request of a repository. */
export const AppPipeline = defineKind({
  group,
  version,
  kind: "AppPipeline",
  description: "A preview for each open pull request of a repository: an Application and a RemoteSync.",
  shortNames: ["pipe"],
  categories: ["modoki"],
  rules: shortName,
  spec: z.object({
    domainBase: z
      .string()
      .max(189)
      .regex(
        /^(\*\.)?([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/,
        "expected the name of a domain in lower case, such as preview.example.com",
      )
      .describe("Domain of the previews' hosts; a leading *. is left out."),
    applicationTemplate: z
      .object({
        metadata: z
          .object({
            labels: z.record(z.string(), z.string()).optional(),
            annotations: z.record(z.string(), z.string()).optional(),
          })
          .optional(),
        spec: z
          .object({
            ...runtime,
            replicas: z.int32().min(0).optional().describe("How many pods."),
          })
          .optional(),
      })
      .describe(
        "What Applications of previews are like. In args, attributes, annotations and values of env, {{number}}, {{slug}} (the branch as a DNS label that no other preview has), {{sha}}, {{short_sha}} and {{host}} are those of the preview.",
      ),
    base: z.object({
      github: z.object({ owner, repo, secretName: tokenSecret }),
      subPath: z.string().optional().describe("Folder of the repository that is built."),
    }),
    image,
    filter: z
      .object({
        labels: z.array(z.string()).optional().describe("Pull requests that have all of these labels."),
        baseBranches: z
          .array(z.string())
          .optional()
          .describe("Those that are to be merged into one of these; * stands for any letters."),
        drafts: z.boolean().optional().describe("Also drafts. Default: true."),
        forks: z
          .enum(["Never", "Approved", "Always"])
          .optional()
          .describe(
            "Those that come from other repositories: a preview runs their code. Approved: commits that a user with write access to the repository approved, with a review or the label. Default: Approved.",
          ),
        approvalLabel: z.string().min(1).optional().describe("That label. Default: preview-approved."),
      })
      .optional(),
    maxPreviews: z.int().min(0).optional().describe("At most so many; others wait. Default: any number."),
    ttl: durationText
      .optional()
      .describe(
        "How long after its last commit a preview goes: 72h. Without it, when the pull request is closed.",
      ),
    pollInterval: durationText
      .optional()
      .describe("How often GitHub is asked, whatever becomes of webhooks. Default: 5m."),
    report: z
      .object({
        commitStatus: z.boolean().optional().describe("A status of the last commit. Default: true."),
        deployment: z.boolean().optional().describe("A deployment of it. Default: false."),
        comment: z.boolean().optional().describe("A comment on the pull request. Default: true."),
      })
      .optional()
      .describe("What GitHub is told."),
    revision: revision.optional(),
    build: previewBuild.optional(),
    builder: builder.optional(),
  }),
  status: z.object({
    message: z.string().optional().describe("What keeps it from being ready."),
    open: z
      .int()
      .min(0)
      .optional()
      .describe("How many pull requests are open that have or wait for a preview."),
    repository: knownRepository.optional(),
    refreshedAt: z.string().optional().describe("The annotation refreshed-at that was last answered."),
    listedGeneration: z.int().optional().describe("The metadata.generation that GitHub was last asked for."),
    listedAt: time.optional().describe("When they were last listed."),
    nextListingAt: time.optional().describe("When they are listed again at the latest."),
    previews: z.array(previewSchema).optional().describe("Open pull requests, by number."),
    reports: z
      .array(
        z.object({
          number: z.int(),
          statuses: z
            .array(
              z.object({
                context: z.string(),
                sha: z.string().describe("The commit."),
                digest: z.string().describe("Of what was set last."),
                pending: z.boolean().optional(),
              }),
            )
            .optional()
            .describe("Commit statuses that were set, and are to be kept up to date."),
          status: z.string().optional().describe("Of earlier versions: digest of the commit status."),
          pendingSHA: z
            .string()
            .optional()
            .describe("Of earlier versions: the commit whose status under the former context is pending."),
          environment: z.string().optional().describe("Where the deployment is."),
          deployment: z.int().optional().describe("Id of the deployment."),
          deployedSHA: z.string().optional().describe("The commit that it is of."),
          deploymentStatus: z.string().optional().describe("Digest of its status."),
          comment: z.int().optional().describe("Id of the comment."),
          commentText: z.string().optional().describe("Digest of its text."),
          refused: z
            .record(z.string(), time)
            .optional()
            .describe("What GitHub has refused to be told, and when it is tried again."),
          closingUntil: time
            .optional()
            .describe("Of a preview that is gone: until when refused reports are retried."),
        }),
      )
      .optional()
      .describe("What GitHub was told of each."),
    reportedRepository: z
      .int()
      .optional()
      .describe("GitHub's id of the repository that the reports went to."),
    reportContext: z
      .string()
      .optional()
      .describe(
        "Context of its commit statuses, which a branch protection rule names. Environments begin with it.",
      ),
    nextReportAt: time
      .optional()
      .describe("GitHub is told nothing before: it could not be reached, or asked to wait."),
    observedGeneration,
    conditions: conditions(
      "PullRequestsListed: GitHub was asked, and answered. Reported: GitHub was told. Ready: listed, and each preview has what it needs.",
    ),
  }),
  columns: [
    ready,
    { name: "Repo", type: "string", jsonPath: ".spec.base.github.repo" },
    { name: "Open", type: "integer", jsonPath: ".status.open" },
    age,
  ],
});
export type AppPipeline = ObjectOf<typeof AppPipeline>;
/** A pull request's preview, as the status has it. */
export type Preview = z.infer<typeof previewSchema>;
