/** Lists open pull requests. Between requests to GitHub, and when it does not answer, the last answer is used. */
import { BlockedError, type ConditionUpdate, type Context, type Stored } from "denrei";
import { type GitHubRepositoryClient, type PullRequest, withGitHub } from "denrei/github";
import { timeText } from "denrei/kinds";
import { repositoryOf, repositoryOfPull } from "../github.ts";
import { identified, knownAs, renamed, renameNote } from "../identity.ts";
import type { AppPipeline } from "../kinds/apppipeline.ts";
import { millisOf } from "../kinds/fields.ts";
import { annotations } from "../names.ts";
import { siteOf } from "../site/site.ts";
import { type Approval, approvalOf } from "./approval.ts";
import { type Candidate, candidateIn, candidatesOf, defaultApprovalLabel, toApprove } from "./select.ts";
import { hasNewCredentials } from "./watches.ts";

type Pipeline = Stored<AppPipeline>;

/** The known open pull requests. */
export interface Listed {
  /** Undefined until GitHub has answered once. Until then, no pull request is known to be closed. */
  readonly candidates: readonly Candidate[] | undefined;
  readonly condition: ConditionUpdate;
  readonly status: Partial<NonNullable<AppPipeline["status"]>>;
  /** Deadline of the next request to GitHub, in milliseconds since the epoch. */
  readonly nextAt: number;
  readonly failure?: BlockedError;
}

const type = "PullRequestsListed";
const defaultPollMillis = 300_000;
const minPollMillis = 10_000;

/** Asks GitHub if that is due, else returns the last answer. */
export async function list(pipeline: Pipeline, now: Date, ctx: Context): Promise<Listed> {
  const { spec, status, metadata } = pipeline;
  const known = status?.previews?.map(candidateIn);
  const before = listedCondition(pipeline);
  if (before !== undefined && !isDue(pipeline, now, ctx)) return lastListing(pipeline, before, now);
  const handled = {
    refreshedAt: metadata.annotations?.[annotations.refreshedAt] ?? "",
    ...(metadata.generation !== undefined && { listedGeneration: metadata.generation }),
  };
  try {
    const { config } = await siteOf(ctx);
    const client = await repositoryOf(spec.base.github, config.github, "read", ctx);
    const pulls = await withGitHub("Token", () => client.openPullRequests(ctx.signal));
    const approvals = await withGitHub("Token", () => approvalsOf(pulls, pipeline, client, ctx));
    const { github } = spec.base;
    const repository = identified(github, await repositoryIn(pulls, client, ctx), status?.repository);
    const note = renameNote(repository);
    if (note !== undefined && knownAs(github, status?.repository)?.fullName !== repository.fullName)
      ctx.event("Warning", renamed, note);
    const nextAt = now.getTime() + pollMillis(spec);
    return {
      candidates: candidatesOf(pulls, spec, known ?? [], approvals, now),
      condition:
        note === undefined
          ? { type, status: "True", reason: "Listed", message: "" }
          : { type, status: "True", reason: renamed, message: note },
      status: { ...handled, repository, listedAt: timeText(now), nextListingAt: timeText(nextAt) },
      nextAt,
    };
  } catch (error) {
    if (!(error instanceof BlockedError)) throw error;
    const { reason, message, retryAfterMillis } = error;
    const nextAt = now.getTime() + retryAfterMillis;
    return {
      candidates: known,
      condition: { type, status: "False", reason, message },
      status: { ...handled, nextListingAt: timeText(nextAt) },
      nextAt,
      failure: error,
    };
  }
}

/** The repository of a list of pull requests. An empty list does not include it. */
async function repositoryIn(
  [first]: readonly PullRequest[],
  client: GitHubRepositoryClient,
  { signal }: Pick<Context, "signal">,
): Promise<{ readonly id: number; readonly fullName: string }> {
  return withGitHub("Token", () =>
    first === undefined ? client.repository(signal) : repositoryOfPull(first, client, signal),
  );
}

/** Number of timelines that are read concurrently. */
const batch = 10;

async function approvalsOf(
  pulls: readonly PullRequest[],
  { spec, status }: Pipeline,
  client: GitHubRepositoryClient,
  { signal }: Pick<Context, "signal">,
): Promise<ReadonlyMap<number, Approval>> {
  const known = new Map(status?.previews?.map((preview) => [preview.number, preview]));
  const label = spec.filter?.approvalLabel ?? defaultApprovalLabel;
  const writers = new Map<string, Promise<boolean>>();
  const mayWrite = (login: string): Promise<boolean> => {
    const answer = writers.get(login) ?? client.mayWrite(login, signal);
    writers.set(login, answer);
    return answer;
  };
  const left = toApprove(pulls, spec);
  const approvals = new Map<number, Approval>();
  for (let at = 0; at < left.length; at += batch) {
    await Promise.all(
      left.slice(at, at + batch).map(async (pull) => {
        const timeline = await client.timeline(pull.number, signal);
        const last = known.get(pull.number);
        approvals.set(pull.number, await approvalOf({ pull, label, last, timeline, mayWrite }));
      }),
    );
  }
  return approvals;
}

const listedCondition = ({ status }: Pipeline) =>
  status?.conditions?.find((condition) => condition.type === type);

/** The last answer of GitHub. A failure stays an error until GitHub answers. */
function lastListing(pipeline: Pipeline, before: ConditionUpdate, now: Date): Listed {
  const { status, reason, message } = before;
  const nextAt = nextAtOf(pipeline);
  return {
    candidates: pipeline.status?.previews?.map(candidateIn),
    condition: { type, status, reason, message },
    status: {},
    nextAt,
    ...(status !== "True" && {
      failure: new BlockedError(reason, message, Math.max(1000, nextAt - now.getTime())),
    }),
  };
}

const nextAtOf = ({ status }: Pipeline): number => Date.parse(status?.nextListingAt ?? "");

/** Whether to ask GitHub. Changes of previews do not require it. */
export function isDue(pipeline: Pipeline, now: Date, { causes }: Pick<Context, "causes">): boolean {
  const { metadata, status = {} } = pipeline;
  const nextAt = nextAtOf(pipeline);
  if (status.listedGeneration !== metadata.generation || Number.isNaN(nextAt)) return true;
  if (now.getTime() >= nextAt) return true;
  if ((metadata.annotations?.[annotations.refreshedAt] ?? "") !== (status.refreshedAt ?? "")) return true;
  if (causes.some((cause) => cause.type === "webhook" || cause.type === "replay")) return true;
  return listedCondition(pipeline)?.status !== "True" && hasNewCredentials(causes);
}

const pollMillis = ({ pollInterval }: AppPipeline["spec"]): number =>
  pollInterval === undefined ? defaultPollMillis : Math.max(minPollMillis, millisOf(pollInterval));
