/** What a user of the emulated GitHub does: changes things through the API, so that webhooks are sent. */
import { forkedBranch, forkedName, forkedRepository } from "./forks.ts";
import { type PullRequestActions, pullRequestActions } from "./pullactions.ts";
import type { Pull, Pulls } from "./pulls.ts";
import type { Restrictions } from "./restrictions.ts";
import { user } from "./seed.ts";
import type { Timelines } from "./timeline.ts";
import type { UserRequest } from "./userrequests.ts";

/** A pull request that was opened. */
export interface OpenedPull {
  readonly number: number;
  readonly headSha: string;
}

/** The user. */
export interface Account extends PullRequestActions {
  /**
   * Asks the API as a member of all accounts: past the faults, and not among the requests of clients. Throws when the
   * answer is an error.
   */
  api<T = unknown>(method: string, path: string, body?: object): Promise<T>;
  /** Opens one from a branch, with one commit; the branch is made when there is none of that name. */
  openPullRequest(pull: {
    readonly repository: string;
    readonly title?: string;
    readonly branch?: string;
    /** `main` unless given. */
    readonly base?: string;
    readonly draft?: boolean;
    /** The full name of a fork whose owner opens it, who is no member. There is one at once. */
    readonly fork?: string;
  }): Promise<OpenedPull>;
  /** Commits a new file to a branch, also of a fork. Pull requests from it follow, and are told of as synchronized. */
  push(to: { readonly repository: string; readonly branch: string }): Promise<{
    readonly before: string;
    readonly after: string;
  }>;
}

/** What the account needs. */
export interface AccountParts {
  readonly request: UserRequest;
  readonly pulls: Pulls;
  readonly timelines: Timelines;
  readonly restrictions: Pick<Restrictions, "lock" | "unlock">;
  /** Has a webhook about a repository delivered to the Apps that want it. */
  readonly announce: (repository: string, event: string, payload: Record<string, unknown>) => void;
}

interface Tip {
  readonly commit: { readonly sha: string };
}

/** A branch where `emulate` has it, and the repository that pull requests from it are for. */
interface Branch {
  readonly repository: string;
  readonly name: string;
  readonly target: string;
}

/** A commit that moved a branch. */
export interface Push {
  readonly repository: string;
  readonly branch: string;
  readonly before: string;
  readonly after: string;
}

/** The user that acts through `request`; and what there is to be done when somebody else has pushed. */
export function account({ request, pulls, timelines, restrictions, announce }: AccountParts): {
  readonly account: Account;
  pushed(push: Push): Promise<void>;
} {
  /** What was forked, by the fork. */
  const forked = new Map<string, string>();
  const forks = new Map<string, Promise<unknown>>();
  let opened = 0;
  let made = 0;

  async function api<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await request(method, path, body);
    const text = answer.body.toString();
    if (answer.status >= 400)
      throw new Error(`expected ${method} ${path} to succeed, but it was answered ${answer.status}: ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  function branchOf(repository: string, name: string): Branch {
    const target = forked.get(repository);
    return target === undefined
      ? { repository, name, target: repository }
      : { repository: forkedRepository(target), name: forkedBranch(repository, name), target };
  }

  /** `emulate` has one fork of a repository for all; several may want it at once. */
  function ensureFork(repository: string, fork: string): Promise<unknown> {
    forked.set(fork, repository);
    const made =
      forks.get(repository) ?? api("POST", `/repos/${repository}/forks`, { name: forkedName(repository) });
    forks.set(repository, made);
    return made;
  }

  /** Makes the branch where `main` is, with a commit, unless there is one. */
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

  /** What `emulate` leaves to be done when a branch has moved. */
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
      // Counted at once: several may be opened side by side.
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
