/** Resolves the commit of a source with GitHub. */
import { type GitHubRepositoryClient, withGitHub } from "denrei/github";
import { repositoryOfPull } from "../github.ts";
import type { Source } from "./source.ts";

/** GitHub's answer for a source. */
export type Resolution = { readonly repository: FoundRepository } & Outcome;

/** The repository as GitHub has it. */
export interface FoundRepository {
  readonly id: number;
  readonly fullName: string;
}

type Outcome =
  | {
      readonly state: "resolved";
      readonly revision: string;
      /** Text for the user: a branch, `#7`. */
      readonly ref: string;
      readonly headSHA?: string;
      readonly baseBranch?: string;
    }
  | {
      /** There is no commit to build, for now or until the user acts. An earlier image stays. */
      readonly state: "pending" | "refused";
      readonly reason: string;
      readonly message: string;
      readonly headSHA?: string;
      readonly baseBranch?: string;
    };

/** Asks GitHub. Throws a `BlockedError` when it refuses or does not answer. */
export async function resolve(
  source: Exclude<Source, { type: "commit" }>,
  client: GitHubRepositoryClient,
  signal: AbortSignal,
): Promise<Resolution> {
  return withGitHub("Token", async () => {
    if (source.type === "ref") {
      const repository = await client.repository(signal);
      const revision = await client.commit(source.name, signal);
      return { state: "resolved", revision, ref: source.name, repository };
    }
    if (source.type === "branch") {
      // The answer for a branch does not include the repository.
      const repository = await client.repository(signal);
      const name = source.name ?? repository.defaultBranch;
      const { sha } = await client.branch(name, signal);
      return { state: "resolved", revision: sha, ref: name, repository };
    }
    return ofPullRequest(source, client, signal);
  });
}

async function ofPullRequest(
  { number, revision }: Extract<Source, { type: "pull request" }>,
  client: GitHubRepositoryClient,
  signal: AbortSignal,
): Promise<Resolution> {
  const pull = await client.pullRequest(number, signal);
  const { state, mergeable, mergeCommitSha, head, base } = pull;
  const repository = await repositoryOfPull(pull, client, signal);
  const facts = { headSHA: head.sha, baseBranch: base.ref, repository };
  const ref = `#${number}`;
  if (state === "closed")
    return {
      state: "refused",
      reason: "PullRequestClosed",
      message: `the pull request ${ref} is closed`,
      ...facts,
    };
  if (revision === "Head") return { state: "resolved", revision: head.sha, ref, ...facts };
  if (mergeable === false)
    return {
      state: "refused",
      reason: "MergeConflict",
      message: `the pull request ${ref} cannot be merged into ${base.ref}: resolve the conflicts`,
      ...facts,
    };
  // Until GitHub knows, mergeCommitSha is that of an earlier merge.
  if (mergeable !== true || mergeCommitSha === null)
    return {
      state: "pending",
      reason: "MergeabilityUnknown",
      message: `waiting for GitHub to compute whether the pull request ${ref} can be merged`,
      ...facts,
    };
  return { state: "resolved", revision: mergeCommitSha, ref, ...facts };
}
