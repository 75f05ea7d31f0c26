/** What a user of the emulated GitHub does: changes things through the API, so that webhooks are sent. */
import type { ApiAnswer, ApiCall } from "./call.ts";
import type { PullHeads } from "./pullheads.ts";
import { user } from "./seed.ts";

/** A pull request that was opened. */
export interface OpenedPull {
  readonly number: number;
  readonly headSha: string;
}

/** The user. */
export interface Account {
  /**
   * Asks the API as a member of all accounts: past the faults, and not among the requests of clients. Throws when the
   * answer is an error.
   */
  api<T = unknown>(method: string, path: string, body?: object): Promise<T>;
  /** Opens one from a branch to `main`, with one commit; the branch is made when there is none of that name. */
  openPullRequest(pull: {
    readonly repository: string;
    readonly title?: string;
    readonly branch?: string;
  }): Promise<OpenedPull>;
  /** Commits a new file to a branch. Pull requests from it follow, and are told of as synchronized. */
  push(to: { readonly repository: string; readonly branch: string }): Promise<{
    readonly before: string;
    readonly after: string;
  }>;
  closePullRequest(pull: { readonly repository: string; readonly number: number }): Promise<void>;
}

/** What the account needs. */
export interface AccountParts {
  readonly ask: (call: ApiCall) => Promise<ApiAnswer>;
  readonly heads: PullHeads;
  /** Has a webhook about a repository delivered to the Apps that want it. */
  readonly announce: (repository: string, event: string, payload: Record<string, unknown>) => void;
}

interface Branch {
  readonly commit: { readonly sha: string };
}

interface Pull {
  readonly number: number;
  readonly head: { readonly sha: string };
}

/** The user that acts through `ask`. */
export function account({ ask, heads, announce }: AccountParts): Account {
  let asked = 0;
  let opened = 0;
  let made = 0;

  const request = (method: string, path: string, body?: object): Promise<ApiAnswer> =>
    ask({
      method,
      path,
      headers: { host: "github", authorization: `Bearer ${user.tokens[asked++ % user.tokens.length]}` },
      body: Buffer.from(body === undefined ? "" : JSON.stringify(body)),
    });

  async function api<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await request(method, path, body);
    const text = answer.body.toString();
    if (answer.status >= 400)
      throw new Error(`expected ${method} ${path} to succeed, but it was answered ${answer.status}: ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  /** Makes the branch where `main` is, with a commit, unless there is one. */
  async function ensureBranch(repository: string, branch: string): Promise<void> {
    const { status } = await request("GET", `/repos/${repository}/branches/${branch}`);
    if (status !== 404) return;
    const main = await api<Branch>("GET", `/repos/${repository}/branches/main`);
    const ref = `refs/heads/${branch}`;
    await api("POST", `/repos/${repository}/git/refs`, { ref, sha: main.commit.sha });
    await commit(repository, branch);
  }

  async function commit(repository: string, branch: string): Promise<string> {
    const number = ++made;
    const content = Buffer.from(`${number}\n`).toString("base64");
    const path = `/repos/${repository}/contents/changes/${number}.txt`;
    const { commit } = await api<{ commit: { sha: string } }>("PUT", path, {
      message: `Change ${number}`,
      content,
      branch,
    });
    return commit.sha;
  }

  /** What `emulate` leaves to be done when a branch has moved. */
  async function follow(repository: string, branch: string, before: string, after: string): Promise<void> {
    const [owner = ""] = repository.split("/");
    const head = encodeURIComponent(`${owner}:${branch}`);
    for (const { number } of await api<Pull[]>("GET", `/repos/${repository}/pulls?state=open&head=${head}`)) {
      heads.move(repository, number, after);
      const pull_request = await api<Pull>("GET", `/repos/${repository}/pulls/${number}`);
      announce(repository, "pull_request", {
        action: "synchronize",
        number,
        before,
        after,
        pull_request,
        repository: await api("GET", `/repos/${repository}`),
        sender: await api("GET", "/user"),
      });
    }
  }

  return {
    api,
    async openPullRequest({ repository, ...wanted }) {
      // Counted at once: several may be opened side by side.
      const count = ++opened;
      const { title = `Change ${count}`, branch = `change-${count}` } = wanted;
      await ensureBranch(repository, branch);
      const pull = { title, head: branch, base: "main" };
      const { number, head } = await api<Pull>("POST", `/repos/${repository}/pulls`, pull);
      return { number, headSha: head.sha };
    },
    async push({ repository, branch }) {
      const { commit: tip } = await api<Branch>("GET", `/repos/${repository}/branches/${branch}`);
      const after = await commit(repository, branch);
      await follow(repository, branch, tip.sha, after);
      return { before: tip.sha, after };
    },
    async closePullRequest({ repository, number }) {
      await api("PATCH", `/repos/${repository}/pulls/${number}`, { state: "closed" });
    },
  };
}
