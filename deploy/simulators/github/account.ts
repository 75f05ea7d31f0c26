/** A user of the simulated GitHub. Its changes go through the API, so `emulate` sends the webhooks. */
import { type Branch, Branches } from "./branches.ts";
import type { ApiAnswer, ApiCall } from "./call.ts";
import { type PullRequestActions, pullRequestActions } from "./pullactions.ts";
import type { Pull, Pulls } from "./pulls.ts";
import type { Restrictions } from "./restrictions.ts";
import { user } from "./seed.ts";
import type { Timelines } from "./timeline.ts";
import { type UserRequest, userApi } from "./userrequests.ts";

/** An opened pull request. */
export interface OpenedPull {
  readonly number: number;
  readonly headSha: string;
}

/** The user. */
export interface Account extends PullRequestActions {
  /**
   * Calls the API as a member of all accounts. Bypasses injected faults and is not listed in `requests()`.
   * Throws when the response is an error.
   */
  api<T = unknown>(method: string, path: string, body?: object): Promise<T>;
  /** Opens a pull request from a branch with one commit. Creates the branch if it does not exist. */
  openPullRequest(pull: {
    readonly repository: string;
    readonly title?: string;
    readonly branch?: string;
    /** Defaults to `main`. */
    readonly base?: string;
    readonly draft?: boolean;
    /** Full name of a fork; its owner, who is not a member, opens the pull request. The fork is created if needed. */
    readonly fork?: string;
  }): Promise<OpenedPull>;
  /** Commits a new file to a branch, which may be in a fork. Pull requests from it get a `synchronize` webhook. */
  push(to: { readonly repository: string; readonly branch: string }): Promise<{
    readonly before: string;
    readonly after: string;
  }>;
}

/** Dependencies of the account. */
export interface AccountParts {
  readonly request: UserRequest;
  readonly pulls: Pulls;
  readonly timelines: Timelines;
  readonly restrictions: Pick<Restrictions, "lock" | "unlock">;
  /** Delivers a webhook about a repository to the Apps that subscribe to the event. */
  readonly announce: (repository: string, event: string, payload: Record<string, unknown>) => void;
}

/** A commit pushed to a branch. */
export interface Push {
  readonly repository: string;
  readonly branch: string;
  readonly before: string;
  readonly after: string;
}

/** Creates the user whose requests `request` sends. `pushed` updates pull requests after a client's push. */
export function account(parts: AccountParts): {
  readonly account: Account;
  pushed(push: Push): Promise<void>;
} {
  const { request, pulls } = parts;
  const api = userApi(request);
  const actions = pullRequestActions({ ...parts, api });
  const branches = new Branches(request);
  let opened = 0;

  /** Updates pull requests after a push to a branch, which `emulate` does not do. */
  async function follow(branch: Branch, before: string, after: string): Promise<void> {
    const { repository, name, target } = branch;
    const head = encodeURIComponent(`${repository.split("/")[0]}:${name}`);
    pulls.moveBase(repository, name, after);
    for (const { number } of await api<Pull[]>("GET", `/repos/${target}/pulls?state=open&head=${head}`)) {
      pulls.moveHead(target, number, after);
      await actions.announce(target, number, { action: "synchronize", before, after });
    }
  }

  const account: Account = {
    api,
    ...actions.ofUser,
    async openPullRequest({ repository, fork, base = "main", draft = false, ...given }) {
      // Counted before the first await: several may be opened concurrently.
      const count = ++opened;
      const { title = `Change ${count}`, branch = `change-${count}` } = given;
      if (fork !== undefined) await branches.ensureFork(repository, fork);
      const from = branches.find(fork ?? repository, branch);
      await branches.ensure(from);
      const head = fork === undefined ? from.name : `${user.login}:${from.name}`;
      const pull = await api<Pull>("POST", `/repos/${repository}/pulls`, { title, head, base, draft });
      return { number: pull.number, headSha: pull.head.sha };
    },
    async push({ repository, branch }) {
      const to = branches.find(repository, branch);
      const before = await branches.tipOf(to);
      const after = await branches.commit(to);
      await follow(to, before, after);
      return { before, after };
    },
  };
  return {
    account,
    pushed: ({ repository, branch, before, after }) =>
      follow(branches.find(repository, branch), before, after),
  };
}

const contentsPath = /^\/repos\/([^/]+\/[^/]+)\/contents\//;

/** The push that a client made through the API; undefined for other calls. */
export function pushOf({ method, path, body }: ApiCall, answer: ApiAnswer): Push | undefined {
  const repository = contentsPath.exec(path)?.[1];
  if (method !== "PUT" || repository === undefined || answer.status >= 300) return undefined;
  const { branch = "main" } = JSON.parse(body.toString()) as { branch?: string };
  const { commit } = JSON.parse(answer.body.toString()) as {
    commit: { sha: string; parents: readonly { sha: string }[] };
  };
  return { repository, branch, before: commit.parents[0]?.sha ?? "", after: commit.sha };
}
