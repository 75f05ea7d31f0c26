/** A GitHub user who works through the API. */
import { AbsentError } from "denrei/runtime";
import type { SimulatedGitHub } from "../../environment/simulators/github.ts";

/** The user. Each call throws an `AbsentError` if GitHub rejects the request or does not answer. */
export interface GitHubUser {
  /** Creates a branch with one commit, and opens a pull request; returns its number. */
  openPullRequest(pull: { readonly branch: string; readonly title: string }): Promise<number>;
  /** Commits to a branch; returns the commit ID. */
  push(branch: string, message: string): Promise<string>;
  closePullRequest(number: number): Promise<void>;
  /** Texts of the comments on a pull request. */
  comments(number: number): Promise<readonly string[]>;
  /** The newest status of a commit in each context: `modoki/web: success`. */
  statuses(sha: string): Promise<readonly string[]>;
}

/** The user of a simulated GitHub. */
export function githubUser(
  { url, userToken, repository }: Pick<SimulatedGitHub, "url" | "userToken" | "repository">,
  signal: AbortSignal,
): GitHubUser {
  const root = `/repos/${repository}`;
  let files = 0;

  async function ask<T>(method: string, path: string, body?: object): Promise<T> {
    const request = `${method} ${root}/${path}`;
    const answer = await fetch(`${url}/api/v3${root}/${path}`, {
      method,
      headers: { authorization: `Bearer ${userToken}`, accept: "application/vnd.github+json" },
      ...(body && { body: JSON.stringify(body) }),
      signal,
    }).catch((error: Error) => {
      signal.throwIfAborted();
      throw new AbsentError(`GitHub at ${url} did not answer ${request}: ${reasonOf(error)}`);
    });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text) as T;
    throw new AbsentError(`${request} failed: GitHub answered ${answer.status}: ${text}`);
  }

  async function push(branch: string, message: string): Promise<string> {
    const content = Buffer.from("Hello from Denrei.\n").toString("base64");
    const path = `contents/hello-${branch}-${++files}.txt`;
    return (await ask<{ commit: { sha: string } }>("PUT", path, { message, content, branch })).commit.sha;
  }

  return {
    push,
    async openPullRequest({ branch, title }) {
      const main = await ask<{ commit: { sha: string } }>("GET", "branches/main");
      await ask("POST", "git/refs", { ref: `refs/heads/${branch}`, sha: main.commit.sha });
      await push(branch, title);
      return (await ask<{ number: number }>("POST", "pulls", { title, head: branch, base: "main" })).number;
    },
    async closePullRequest(number) {
      await ask("PATCH", `pulls/${number}`, { state: "closed" });
    },
    async comments(number) {
      return (await ask<{ body: string }[]>("GET", `issues/${number}/comments`)).map(({ body }) => body);
    },
    async statuses(sha) {
      const all = await ask<{ context: string; state: string; created_at: string }[]>(
        "GET",
        `commits/${sha}/statuses`,
      );
      // The newest come first.
      const newest = new Map(all.reverse().map(({ context, state }) => [context, state]));
      return [...newest].map(([context, state]) => `${context}: ${state}`);
    },
  };
}

/** Connection errors of fetch are in the cause. */
const reasonOf = ({ cause, message }: Error): string => (cause instanceof Error ? cause.message : message);
