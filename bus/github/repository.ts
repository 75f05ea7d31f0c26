/** Client for one repository of GitHub, with a token. */
import { z } from "zod";
import { redactedValue } from "../values/redact.ts";
import { allowedApiUrl } from "./allowed.ts";
import { type Answer, type Call, type Caller, type CallerOptions, githubCalls } from "./call.ts";
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

/** Options of a client for one repository. `limits` and `etags`: shared by all clients of a process. */
export interface GitHubRepositoryOptions extends Omit<CallerOptions, "base"> {
  /** The web address of a GitHub Enterprise Server. Default: github.com. */
  readonly url?: string | undefined;
  /** Web addresses of allowed GitHubs in addition to github.com. Default: those of the environment. */
  readonly allowed?: readonly string[] | undefined;
  readonly owner: string;
  readonly name: string;
  /** Token of an App's installation. */
  readonly token: string;
}

/** Properties of the repository itself. */
export interface RepositoryFacts {
  /** GitHub's id, which survives renames and transfers. */
  readonly id: number;
  /** `owner/name`, the current name: GitHub redirects from a former one. */
  readonly fullName: string;
  readonly defaultBranch: string;
  readonly private: boolean;
}

/** A branch and its commit. */
export interface Branch {
  readonly name: string;
  readonly sha: string;
}

/** The id of a created object. */
export interface Created {
  readonly id: number;
}

/** A repository. Each call throws a `GitHubError`, or the signal's reason when the caller aborts. */
export interface GitHubRepositoryClient {
  /** The base URL of the API. */
  readonly base: string;
  /** The login of the token's owner, the author of what it writes; with `[bot]` for an App. Requested once. */
  login(signal?: AbortSignal): Promise<string>;
  repository(signal?: AbortSignal): Promise<RepositoryFacts>;
  /** Throws a `GitHubRefusedError` with status 404 if the branch does not exist. */
  branch(name: string, signal?: AbortSignal): Promise<Branch>;
  /**
   * The commit of a tag, a branch, or an abbreviated commit id. Throws a `GitHubRefusedError` with status 404 or 422 for any
   * other text.
   */
  commit(ref: string, signal?: AbortSignal): Promise<string>;
  pullRequest(number: number, signal?: AbortSignal): Promise<PullRequest>;
  /**
   * All open pull requests, the oldest first. Includes every one that was open during the whole read; throws if this cannot be
   * guaranteed.
   */
  openPullRequests(signal?: AbortSignal): Promise<readonly PullRequest[]>;
  /** Events of a pull request, the oldest first, as far as they concern approvals of commits. */
  timeline(number: number, signal?: AbortSignal): Promise<readonly TimelineEvent[]>;
  /** Whether a user may push to the repository. Unknown users may not. */
  mayWrite(login: string, signal?: AbortSignal): Promise<boolean>;
  /** Needs `statuses: write`. The calls below need the write permission for what they write. */
  createStatus(sha: string, status: CommitStatus, signal?: AbortSignal): Promise<void>;
  /** Comments of an issue or a pull request, the oldest first. Each page is requested when it is reached. */
  comments(issue: number, signal?: AbortSignal): AsyncGenerator<Comment, void>;
  createComment(issue: number, body: string, signal?: AbortSignal): Promise<Created>;
  updateComment(id: number, body: string, signal?: AbortSignal): Promise<Created>;
  /** Deployments of a commit in an environment, the newest first; at most a hundred. */
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
 * Opens a client for one repository. Throws a `GitHubUrlError`, a `GitHubNotAllowedError`, a {@link GitHubError} for an invalid
 * repository name, and a {@link GitHubRefusedError} with status 401 for a token that no header can carry. Sends nothing yet.
 */
export function githubRepository(options: GitHubRepositoryOptions): GitHubRepositoryClient {
  const { owner, name, token } = options;
  const base = allowedApiUrl(options.url, options.allowed);
  const path = repositoryPath(owner, name);
  if (!isToken(token)) {
    throw new GitHubRefusedError(
      `${token === "" ? "no token" : "invalid characters in the token"} for ${owner}/${name}. Check its Secret.`,
      401,
    );
  }
  const call = githubCalls({ ...options, base });
  return new RepositoryClient(base, path, call, tokenCaller("the token's owner", token));
}

type MakeCall = ReturnType<typeof githubCalls>;
type Request<T> = Pick<Call<T>, "answer" | "signal" | "parameters">;

class RepositoryClient implements GitHubRepositoryClient {
  readonly base: string;
  /** `owner/name`. */
  readonly #path: string;
  readonly #call: MakeCall;
  readonly #as: Caller;
  #login: Promise<string> | undefined;

  constructor(base: string, path: string, call: MakeCall, as: Caller) {
    this.base = base;
    this.#path = path;
    this.#call = call;
    this.#as = as;
  }

  login(signal?: AbortSignal): Promise<string> {
    this.#login ??= this.#call({
      method: "POST",
      path: graphqlPath(this.base),
      as: this.#as,
      parameters: { query: viewerQuery },
      answer: viewerAnswer,
      signal,
    }).then(({ body }) => body);
    return this.#login;
  }

  async repository(signal?: AbortSignal): Promise<RepositoryFacts> {
    return (await this.#get("", { answer: repositoryAnswer, signal })).body;
  }

  async branch(branch: string, signal?: AbortSignal): Promise<Branch> {
    return (await this.#get(`/branches/${encodeURIComponent(branch)}`, { answer: branchAnswer, signal }))
      .body;
  }

  async commit(ref: string, signal?: AbortSignal): Promise<string> {
    return (await this.#get(`/commits/${encodeURIComponent(ref)}`, { answer: commitAnswer, signal })).body;
  }

  async pullRequest(number: number, signal?: AbortSignal): Promise<PullRequest> {
    return (await this.#get(`/pulls/${number}`, { answer: pullRequestAnswer, signal })).body;
  }

  async openPullRequests(signal?: AbortSignal): Promise<readonly PullRequest[]> {
    const order = { state: "open", sort: "created", direction: "asc", per_page: pageSize };
    const answer = z.array(pullRequestAnswer);
    const pulls = await settledList(
      (page) => this.#get("/pulls", { parameters: { ...order, page }, answer, signal }),
      ({ number }) => number,
    );
    if (pulls !== undefined) return pulls;
    throw new GitHubUnreachableError(
      `the open pull requests of ${this.#path} changed during each read. Try again later.`,
    );
  }

  async timeline(number: number, signal?: AbortSignal): Promise<readonly TimelineEvent[]> {
    const events: TimelineEvent[] = [];
    for await (const page of this.#pages(`/issues/${number}/timeline`, timelineAnswer, signal))
      events.push(...page);
    return events;
  }

  async mayWrite(login: string, signal?: AbortSignal): Promise<boolean> {
    const path = `/collaborators/${encodeURIComponent(login)}/permission`;
    try {
      const { permission } = (await this.#get(path, { answer: permissionAnswer, signal })).body;
      return ["write", "admin"].includes(permission);
    } catch (error) {
      if (error instanceof GitHubRefusedError && error.status === 404) return false;
      throw error;
    }
  }

  async createStatus(sha: string, status: CommitStatus, signal?: AbortSignal): Promise<void> {
    await this.#write("POST", `/statuses/${encodeURIComponent(sha)}`, statusBody(status), signal);
  }

  async *comments(issue: number, signal?: AbortSignal): AsyncGenerator<Comment, void> {
    for await (const page of this.#pages(`/issues/${issue}/comments`, commentsAnswer, signal)) yield* page;
  }

  createComment(issue: number, body: string, signal?: AbortSignal): Promise<Created> {
    return this.#write("POST", `/issues/${issue}/comments`, { body }, signal);
  }

  updateComment(id: number, body: string, signal?: AbortSignal): Promise<Created> {
    return this.#write("PATCH", `/issues/comments/${id}`, { body }, signal);
  }

  async deployments(
    { sha, environment }: { readonly sha: string; readonly environment: string },
    signal?: AbortSignal,
  ): Promise<readonly FoundDeployment[]> {
    const parameters = { sha, environment, per_page: pageSize };
    return (await this.#get("/deployments", { parameters, answer: deploymentsAnswer, signal })).body;
  }

  createDeployment(deployment: Deployment, signal?: AbortSignal): Promise<Created> {
    return this.#write("POST", "/deployments", deploymentBody(deployment), signal);
  }

  setDeploymentStatus(id: number, status: DeploymentStatus, signal?: AbortSignal): Promise<Created> {
    return this.#write("POST", `/deployments/${id}/statuses`, deploymentStatusBody(status), signal);
  }

  #get<T>(path: string, request: Request<T>): Promise<Answer<T>> {
    return this.#call({ method: "GET", path: `/repos/${this.#path}${path}`, as: this.#as, ...request });
  }

  #pages<T>(
    path: string,
    answer: z.ZodType<readonly T[]>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly T[], void> {
    return pagesOf((page) => this.#get(path, { parameters: { per_page: pageSize, page }, answer, signal }));
  }

  async #write(
    method: "POST" | "PATCH",
    path: string,
    parameters: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
  ): Promise<Created> {
    const { body } = await this.#call({
      method,
      path: `/repos/${this.#path}${path}`,
      as: this.#as,
      // Visible to all readers of the repository.
      parameters: redactedValue(parameters),
      answer: createdAnswer,
      signal,
    });
    return body;
  }
}

/** Rejects names that could lead to another path. */
function repositoryPath(owner: string, name: string): string {
  if (/^[\w-]+$/.test(owner) && /^[\w.-]+$/.test(name) && !/^\.\.?$/.test(name)) return `${owner}/${name}`;
  throw new GitHubError(
    `expected the owner and the name of a repository as on its page, found ${JSON.stringify(`${owner}/${name}`)}. ` +
      "Correct them.",
  );
}
