/** AppPipeline: a preview for each open pull request of a repository. */
import { defineKind, type ObjectOf, z } from "denrei/kinds";
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

/** The most pull requests that a filter can exclude, so that an AppPipeline stays far below the limit of an object's size. */
const mostExcluded = 1000;

/** Phases of a preview. */
export const phases = [
  "Waiting",
  "NeedsApproval",
  "Expired",
  "Excluded",
  "Resolving",
  "Building",
  "Deploying",
  "Ready",
  "Failed",
] as const;

const previewSchema = z.object({
  number: z.int().describe("Number of the pull request."),
  title: z
    .string()
    .optional()
    .describe("Title of the pull request, at most 120 characters, without control characters."),
  author: z.string().optional().describe("Login of the user who opened the pull request."),
  pullRequestURL: z.string().optional().describe("URL of the pull request."),
  openedAt: time.optional().describe("When the pull request was opened."),
  updatedAt: time
    .optional()
    .describe("When the pull request last changed, including comments and labels, as of the last listing."),
  headSHA: z.string().describe("Last commit of the pull request."),
  headRef: z.string().optional().describe("Branch of the pull request."),
  slug: z.string().optional().describe("Branch as a DNS label, unique among previews."),
  baseRef: z.string().optional().describe("Branch that the pull request targets."),
  fork: z.string().optional().describe("Repository of the branch, if it is a fork."),
  labeled: z.boolean().optional().describe("For a fork: whether the pull request has the approval label."),
  approvedSHA: z.string().optional().describe("For a fork: the approved commit."),
  approvedBy: z.string().optional().describe("Login of the user who approved the commit."),
  approvedWith: z.enum(["label", "review"]).optional().describe("How the commit was approved."),
  approvedAt: time.optional().describe("When the approval label was added, by GitHub's clock."),
  approvalProblem: z.string().optional().describe("Why the label does not approve the last commit."),
  headSeenAt: time
    .optional()
    .describe(
      "For a fork: when its last commit was first seen, by GitHub's clock. An older label approves another commit.",
    ),
  since: time.describe("When the last commit was first seen."),
  phase: z.enum(phases),
  application: z.string().optional().describe("Name of the Application and the RemoteSync of the preview."),
  url: z.string().optional().describe("URL of the preview."),
  message: z.string().optional().describe("Why the preview is not ready."),
  warning: z.string().optional().describe("Problem of a preview that is ready, such as a failed rebuild."),
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
        "Enter a domain name in lowercase, such as preview.example.com.",
      )
      .describe("Domain for the hosts of previews. A leading *. is ignored."),
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
            replicas: z.int32().min(0).optional().describe("Number of pods."),
          })
          .optional(),
      })
      .describe(
        "Template of the Applications of previews. These placeholders are replaced in args, attributes, annotations, and values of env: {{number}}, {{slug}} (the branch as a DNS label, unique among previews), {{sha}}, {{short_sha}}, and {{host}}.",
      ),
    base: z.object({
      github: z.object({ owner, repo, secretName: tokenSecret }),
      subPath: z.string().optional().describe("Folder of the repository to build."),
    }),
    image,
    filter: z
      .object({
        labels: z
          .array(z.string())
          .optional()
          .describe("Only pull requests with all of these labels get a preview."),
        baseBranches: z
          .array(z.string())
          .optional()
          .describe(
            "Only pull requests that target one of these branches get a preview. * matches any characters.",
          ),
        drafts: z.boolean().optional().describe("Whether drafts get a preview. Default: true."),
        forks: z
          .enum(["Never", "Approved", "Always"])
          .optional()
          .describe(
            "Whether pull requests from forks get a preview, which runs their code. Approved: only commits that a user with write access to the repository approved, by a review or the label. Default: Approved.",
          ),
        approvalLabel: z
          .string()
          .min(1)
          .optional()
          .describe("Label that approves a fork. Default: preview-approved."),
        excluded: z
          .array(z.int().min(1))
          .max(mostExcluded)
          .meta({ "x-kubernetes-list-type": "set" })
          .optional()
          .describe(
            "Numbers of pull requests that get no preview. Adding a number deletes the preview of an open pull request, and removing it creates the preview again. Numbers of closed pull requests have no effect.",
          ),
      })
      .optional(),
    maxPreviews: z
      .int()
      .min(0)
      .optional()
      .describe("Maximum number of previews. Further pull requests wait. Default: no limit."),
    ttl: durationText
      .optional()
      .describe(
        "Time after its last commit at which a preview is deleted, such as 72h. By default it stays until the pull request is closed.",
      ),
    pollInterval: durationText
      .optional()
      .describe("How often GitHub is polled, in addition to webhooks. Default: 5m."),
    report: z
      .object({
        commitStatus: z.boolean().optional().describe("Set a status of the last commit. Default: true."),
        deployment: z
          .boolean()
          .optional()
          .describe("Create a deployment of the last commit. Default: false."),
        comment: z.boolean().optional().describe("Write a comment on the pull request. Default: true."),
      })
      .optional()
      .describe("Reports to GitHub."),
    revision: revision.optional(),
    build: previewBuild.optional(),
    builder: builder.optional(),
  }),
  status: z.object({
    message: z.string().optional().describe("Why the AppPipeline is not ready."),
    open: z.int().min(0).optional().describe("Number of open pull requests that have or await a preview."),
    repository: knownRepository.optional(),
    refreshedAt: z
      .string()
      .optional()
      .describe("Value of the annotation refreshed-at that was last handled."),
    listedGeneration: z.int().optional().describe("metadata.generation of the last listing."),
    listedAt: time.optional().describe("When pull requests were last listed."),
    nextListingAt: time.optional().describe("Deadline of the next listing."),
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
                digest: z.string().describe("Digest of the last status."),
                pending: z.boolean().optional(),
              }),
            )
            .optional()
            .describe("Commit statuses that are kept up to date."),
          status: z.string().optional().describe("From earlier versions: digest of the commit status."),
          pendingSHA: z
            .string()
            .optional()
            .describe("From earlier versions: the commit whose status under the former context is pending."),
          environment: z.string().optional().describe("Environment of the deployment."),
          deployment: z.int().optional().describe("Id of the deployment."),
          deployedSHA: z.string().optional().describe("Commit of the deployment."),
          deploymentStatus: z.string().optional().describe("Digest of the deployment's status."),
          comment: z.int().optional().describe("Id of the comment."),
          commentText: z.string().optional().describe("Digest of the comment's text."),
          refused: z
            .record(z.string(), time)
            .optional()
            .describe("Reports that GitHub refused, and when each is retried."),
          closingUntil: time
            .optional()
            .describe("For a deleted preview: when retries of refused reports end."),
        }),
      )
      .optional()
      .describe("Last report to GitHub for each pull request."),
    reportedRepository: z.int().optional().describe("GitHub id of the repository of these reports."),
    reportContext: z
      .string()
      .optional()
      .describe(
        "Context of the commit statuses, for branch protection rules. Names of environments begin with it.",
      ),
    nextReportAt: time
      .optional()
      .describe("No reports before this time, because GitHub was unreachable or asked to wait."),
    observedGeneration,
    conditions: conditions(
      "PullRequestsListed: GitHub returned the open pull requests. Reported: GitHub accepted the reports. Ready: pull requests are listed, and the objects of each preview are applied.",
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
/** A pull request's preview in the status. */
export type Preview = z.infer<typeof previewSchema>;
