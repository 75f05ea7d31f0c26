/** One repository of GitHub, as whoever has a token sees it. */
import { z } from "zod";
import { redactedValue } from "../values/redact.ts";
import { allowedApiUrl } from "./allowed.ts";
import { type Call, type CallerOptions, githubCalls } from "./call.ts";
import { GitHubError, GitHubRefusedError, GitHubUnreachableError } from "./errors.ts";
import { pageSize, pagesOf, settledList } from "./pages.ts";
import { type PullRequest, pullRequestAnswer } from "./pullrequest.ts";
import {
  type Comment,
  type CommitStatus,
  commentsAnswer,
  createdAnswer,
  type Deployment,
  type DeploymentStatus,
  deploymentBody,
  deploymentStatusBody,
  deploymentsAnswer,
  type FoundDeployment,
  statusBody,
  viewerAnswer,
  viewerQuery,
} from "./reports.ts";
import { permissionAnswer, type TimelineEvent, timelineAnswer } from "./timeline.ts";
import { isToken, tokenCaller } from "./token.ts";
import { graphqlPath } from "./url.ts";

export type { PullRequest } from "./pullrequest.ts";
export type { Comment, CommitStatus, Deployment, DeploymentStatus, FoundDeployment } from "./reports.ts";

/** Which repository, where, and who asks. `limits` and `etags`: one each for all clients of a process. */
export interface GitHubRepositoryOptions extends Omit<CallerOptions, "base"> {
  /** The web address of a GitHub Enterprise Server; github.com if it is empty or missing. */
  readonly url?: string | undefined;
  /** Web addresses of allowed GitHubs beside github.com. Default: those of the environment. */
  readonly allowed?: readonly string[] | undefined;
  readonly owner: string;
  readonly name: string;
  /** Of an installation of an App. */
  readonly token: string;
}

/** What is known of the repository itself. */
export interface RepositoryFacts {
  /** GitHub's, which stays when the repository is renamed or transferred. */
  readonly id: number;
  /** `owner/name`, as it is called now: GitHub leads from a former name to it. */
  readonly fullName: string;
  readonly defaultBranch: string;
  readonly private: boolean;
}

/** A branch and the commit that it is at. */
export interface Branch {
  readonly name: string;
  readonly sha: string;
}

/** What has been made, by its id. */
export interface Created {
  readonly id: number;
}

/** A repository. Each call throws a `GitHubError`, or the signal's reason when the caller gives up. */
export interface GitHubRepositoryClient {
  /** The base URL of the API that is asked. */
  readonly base: string;
  /** Whose token it is: the login that is the author of what it writes, of an App with `[bot]` behind it. Asked once. */
  login(signal?: AbortSignal): Promise<string>;
  repository(signal?: AbortSignal): Promise<RepositoryFacts>;
  /** Throws a `GitHubRefusedError` with status 404 when there is none of that name. */
  branch(name: string, signal?: AbortSignal): Promise<Branch>;
  /**
   * The commit that a tag, a branch or the first digits of a commit id stand for. Throws a `GitHubRefusedError` with status 404 or 422
   * for any other text.
   */
  commit(ref: string, signal?: AbortSignal): Promise<string>;
  pullRequest(number: number, signal?: AbortSignal): Promise<PullRequest>;
  /**
   * All that are open, the oldest first. None is missing that was open all the time that it took; when that can not be
   * said, it throws.
   */
  openPullRequests(signal?: AbortSignal): Promise<readonly PullRequest[]>;
  /** What has happened to a pull request, the oldest first, as far as it says who approved which commit. */
  timeline(number: number, signal?: AbortSignal): Promise<readonly TimelineEvent[]>;
  /** Whether a user may push to the repository. Unknown users may not. */
  mayWrite(login: string, signal?: AbortSignal): Promise<boolean>;
  /** Needs `statuses: write`, as everything below needs the right to write what it writes. */
  createStatus(sha: string, status: CommitStatus, signal?: AbortSignal): Promise<void>;
  /** Those of an issue or a pull request, the oldest first; each page is asked for when it is reached. */
  comments(issue: number, signal?: AbortSignal): AsyncGenerator<Comment, void>;
  createComment(issue: number, body: string, signal?: AbortSignal): Promise<Created>;
  updateComment(id: number, body: string, signal?: AbortSignal): Promise<Created>;
  /** Those of a commit in an environment, the newest first; of many, the first hundred. */
  deployments(
    of: { readonly sha: string; readonly environment: string },
    signal?: AbortSignal,
  ): Promise<readonly FoundDeployment[]>;
  createDeployment(deployment: Deployment, signal?: AbortSignal): Promise<Created>;
  setDeploymentStatus(id: number, status: DeploymentStatus, signal?: AbortSignal): Promise<Created>;
}

const repositoryAnswer = z
  .object({ id: z.int(), full_name: z.string(), default_branch: z.string(), private: z.boolean() })
  .transform((found) => ({
    id: found.id,
    fullName: found.full_name,
    defaultBranch: found.default_branch,
    private: found.private,
  }));

const branchAnswer = z
  .object({ name: z.string(), commit: z.object({ sha: z.string() }) })
  .transform(({ name, commit }) => ({ name, sha: commit.sha }));

const commitAnswer = z.object({ sha: z.string() }).transform(({ sha }) => sha);

/**
 * A client for one repository. Throws a `GitHubUrlError`, a `GitHubNotAllowedError`, a {@link GitHubError} for a name that no repository can have, and
 * a {@link GitHubRefusedError} with status 401 for a token that no header can carry; nothing is sent yet.
 */
export function githubRepository(options: GitHubRepositoryOptions): GitHubRepositoryClient {
  const { owner, name, token } = options;
  const base = allowedApiUrl(options.url, options.allowed);
  const root = `/repos/${repositoryPath(owner, name)}`;
  if (!isToken(token)) {
    throw new GitHubRefusedError(
      `expected a token for ${owner}/${name}, found ${token === "" ? "none" : "characters that no token has"}. ` +
        "Check the Secret that it is in.",
      401,
    );
  }
  const call = githubCalls({ ...options, base });
  const as = tokenCaller("whoever has the token", token);

  type Request<T> = Pick<Call<T>, "answer" | "signal" | "parameters">;
  const get = <T>(path: string, request: Request<T>) =>
    call({ method: "GET", path: `${root}${path}`, as, ...request });
  const write = async (
    method: "POST" | "PATCH",
    path: string,
    parameters: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
  ): Promise<Created> =>
    // Visible to all readers of the repository.
    (
      await call({
        method,
        path: `${root}${path}`,
        as,
        parameters: redactedValue(parameters),
        answer: createdAnswer,
        signal,
      })
    ).body;

  let login: Promise<string> | undefined;

  return {
    base,
    login(signal) {
      login ??= call({
        method: "POST",
        path: graphqlPath(base),
        as,
        parameters: { query: viewerQuery },
        answer: viewerAnswer,
        signal,
      }).then(({ body }) => body);
      return login;
    },
    async repository(signal) {
      return (await get("", { answer: repositoryAnswer, signal })).body;
    },
    async branch(branch, signal) {
      return (await get(`/branches/${encodeURIComponent(branch)}`, { answer: branchAnswer, signal })).body;
    },
    async commit(ref, signal) {
      return (await get(`/commits/${encodeURIComponent(ref)}`, { answer: commitAnswer, signal })).body;
    },
    async pullRequest(number, signal) {
      return (await get(`/pulls/${number}`, { answer: pullRequestAnswer, signal })).body;
    },
    async openPullRequests(signal) {
      const order = { state: "open", sort: "created", direction: "asc", per_page: pageSize };
      const answer = z.array(pullRequestAnswer);
      const pulls = await settledList(
        (page) => get("/pulls", { parameters: { ...order, page }, answer, signal }),
        ({ number }) => number,
      );
      if (pulls !== undefined) return pulls;
      throw new GitHubUnreachableError(
        `expected the open pull requests of ${owner}/${name} to stay the same while they are read, found others each time. ` +
          "Try again later.",
      );
    },
    async timeline(number, signal) {
      const path = `/issues/${number}/timeline`;
      const read = (page: number) =>
        get(path, { parameters: { per_page: pageSize, page }, answer: timelineAnswer, signal });
      const events: TimelineEvent[] = [];
      for await (const page of pagesOf(read)) events.push(...page);
      return events;
    },
    async mayWrite(login, signal) {
      const path = `/collaborators/${encodeURIComponent(login)}/permission`;
      try {
        const { permission } = (await get(path, { answer: permissionAnswer, signal })).body;
        return ["write", "admin"].includes(permission);
      } catch (error) {
        if (error instanceof GitHubRefusedError && error.status === 404) return false;
        throw error;
      }
    },
    async createStatus(sha, status, signal) {
      await write("POST", `/statuses/${encodeURIComponent(sha)}`, statusBody(status), signal);
    },
    async *comments(issue, signal) {
      const read = (page: number) =>
        get(`/issues/${issue}/comments`, {
          parameters: { per_page: pageSize, page },
          answer: commentsAnswer,
          signal,
        });
      for await (const page of pagesOf(read)) yield* page;
    },
    createComment: (issue, body, signal) => write("POST", `/issues/${issue}/comments`, { body }, signal),
    updateComment: (id, body, signal) => write("PATCH", `/issues/comments/${id}`, { body }, signal),
    async deployments({ sha, environment }, signal) {
      const parameters = { sha, environment, per_page: pageSize };
      return (await get("/deployments", { parameters, answer: deploymentsAnswer, signal })).body;
    },
    createDeployment: (deployment, signal) =>
      write("POST", "/deployments", deploymentBody(deployment), signal),
    setDeploymentStatus: (id, status, signal) =>
      write("POST", `/deployments/${id}/statuses`, deploymentStatusBody(status), signal),
  };
}

/** No repository has a name that could mean another path. */
function repositoryPath(owner: string, name: string): string {
  if (/^[\w-]+$/.test(owner) && /^[\w.-]+$/.test(name) && !/^\.\.?$/.test(name)) return `${owner}/${name}`;
  throw new GitHubError(
    `expected the owner and the name of a repository as its page has them, found ${JSON.stringify(`${owner}/${name}`)}. ` +
      "Correct them.",
  );
}
