/** A user of the simulated GitHub. Its changes go through the API, so `emulate` sends the webhooks. */
import type { ApiAnswer, ApiCall } from "./call.ts";
import { forkedBranch, forkedName, forkedRepository } from "./forks.ts";
import { type PullRequestActions, pullRequestActions } from "./pullactions.ts";
import type { Pull, Pulls } from "./pulls.ts";
import type { Restrictions } from "./restrictions.ts";
import { user } from "./seed.ts";
import type { Timelines } from "./timeline.ts";
import type { UserRequest } from "./userrequests.ts";

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
  /** Commits a new file to a branch, also of a fork. Pull requests from it get a `synchronize` webhook. */
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

interface Tip {
  readonly commit: { readonly sha: string };
}

/** A branch as `emulate` stores it, and the repository that pull requests from it target. */
interface Branch {
  readonly repository: string;
  readonly name: string;
  readonly target: string;
}

/** A commit pushed to a branch. */
export interface Push {
  readonly repository: string;
  readonly branch: string;
  readonly before: string;
  readonly after: string;
}

/** The user behind `request`. `pushed` updates pull requests after a client's push. */
export function account({ request, pulls, timelines, restrictions, announce }: AccountParts): {
  readonly account: Account;
  pushed(push: Push): Promise<void>;
} {
  /** The forked repository by the name of the fork. */
  const forked = new Map<string, string>();
  const forks = new Map<string, Promise<unknown>>();
  let opened = 0;
  let made = 0;

  async function api<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await request(method, path, body);
    const text = answer.body.toString();
    if (answer.status >= 400)
      throw new Error(`${method} ${path} failed with status ${answer.status}: ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  function branchOf(repository: string, name: string): Branch {
    const target = forked.get(repository);
    return target === undefined
      ? { repository, name, target: repository }
      : { repository: forkedRepository(target), name: forkedBranch(repository, name), target };
  }

  /** `emulate` keeps one fork per repository; concurrent callers share its creation. */
  function ensureFork(repository: string, fork: string): Promise<unknown> {
    forked.set(fork, repository);
    const made =
      forks.get(repository) ?? api("POST", `/repos/${repository}/forks`, { name: forkedName(repository) });
    forks.set(repository, made);
    return made;
  }

  /** Creates the branch from `main`, with one commit, unless it exists. */
  async function ensureBranch(branch: Branch): Promise<void> {
    const { repository, name } = branch;
    const { status } = await request("GET", `/repos/${repository}/branches/${name}`);
    if (status !== 404) return;
    const main = await api<Tip>("GET", `/repos/${repository}/branches/main`);
    await api("POST", `/repos/${repository}/git/refs`, { ref: `refs/heads/${name}`, sha: main.commit.sha });
    await commit(branch);
  }

  async function commit({ repository, name }: Branch): Promise<string> {
    const number = ++made;
    const content = Buffer.from(`${number}\n`).toString("base64");
    const path = `/repos/${repository}/contents/changes/${number}.txt`;
    const message = `Change ${number}`;
    return (await api<Tip>("PUT", path, { message, content, branch: name })).commit.sha;
  }

  /** Updates pull requests after a branch has moved, which `emulate` does not do. */
  async function follow(branch: Branch, before: string, after: string): Promise<void> {
    const { repository, name, target } = branch;
    const head = encodeURIComponent(`${repository.split("/")[0]}:${name}`);
    pulls.moveBase(repository, name, after);
    for (const { number } of await api<Pull[]>("GET", `/repos/${target}/pulls?state=open&head=${head}`)) {
      pulls.moveHead(target, number, after);
      await actions.announce(target, number, { action: "synchronize", before, after });
    }
  }

  const actions = pullRequestActions({ api, pulls, timelines, restrictions, announce });

  const account: Account = {
    api,
    ...actions.ofUser,
    async openPullRequest({ repository, fork, base = "main", draft = false, ...wanted }) {
      // Counted before the first await: several may be opened concurrently.
      const count = ++opened;
      const { title = `Change ${count}`, branch = `change-${count}` } = wanted;
      if (fork !== undefined) await ensureFork(repository, fork);
      const from = branchOf(fork ?? repository, branch);
      await ensureBranch(from);
      const head = fork === undefined ? from.name : `${user.login}:${from.name}`;
      const pull = await api<Pull>("POST", `/repos/${repository}/pulls`, { title, head, base, draft });
      return { number: pull.number, headSha: pull.head.sha };
    },
    async push({ repository, branch }) {
      const to = branchOf(repository, branch);
      const { commit: tip } = await api<Tip>("GET", `/repos/${to.repository}/branches/${to.name}`);
      const after = await commit(to);
      await follow(to, tip.sha, after);
      return { before: tip.sha, after };
    },
  };
  return {
    account,
    pushed: ({ repository, branch, before, after }) => follow(branchOf(repository, branch), before, after),
  };
}

const contentsPath = /^\/repos\/([^/]+\/[^/]+)\/contents\//;

/** The push that a client made through the API, which `emulate` does not apply to pull requests; undefined for other calls. */
export function pushOf({ method, path, body }: ApiCall, answer: ApiAnswer): Push | undefined {
  const repository = contentsPath.exec(path)?.[1];
  if (method !== "PUT" || repository === undefined || answer.status >= 300) return undefined;
  const { branch = "main" } = JSON.parse(body.toString()) as { branch?: string };
  const { commit } = JSON.parse(answer.body.toString()) as {
    commit: { sha: string; parents: readonly { sha: string }[] };
  };
  return { repository, branch, before: commit.parents[0]?.sha ?? "", after: commit.sha };
}
