/** Branches that the user creates and commits to, in repositories and in simulated forks. */
import { forkedBranch, forkedName, forkedRepository } from "./forks.ts";
import { type UserApi, type UserRequest, userApi } from "./userrequests.ts";

/** A branch as `emulate` stores it, and the repository that pull requests from it target. */
export interface Branch {
  readonly repository: string;
  readonly name: string;
  readonly target: string;
}

interface Tip {
  readonly commit: { readonly sha: string };
}

/** The branches, and the forks that they are in. */
export class Branches {
  readonly #request: UserRequest;
  readonly #api: UserApi;
  /** The forked repository by the name of the fork. */
  readonly #forked = new Map<string, string>();
  /** The creation of a repository's fork in `emulate`. */
  readonly #forks = new Map<string, Promise<unknown>>();
  #commits = 0;

  constructor(request: UserRequest) {
    this.#request = request;
    this.#api = userApi(request);
  }

  /** A branch of a repository or of a simulated fork, whether or not it exists. */
  find(repository: string, name: string): Branch {
    const target = this.#forked.get(repository);
    return target === undefined
      ? { repository, name, target: repository }
      : { repository: forkedRepository(target), name: forkedBranch(repository, name), target };
  }

  /** `emulate` keeps one fork per repository; concurrent callers share its creation. */
  ensureFork(repository: string, fork: string): Promise<unknown> {
    this.#forked.set(fork, repository);
    const creation =
      this.#forks.get(repository) ??
      this.#api("POST", `/repos/${repository}/forks`, { name: forkedName(repository) });
    this.#forks.set(repository, creation);
    return creation;
  }

  /** Creates the branch from `main`, with one commit, unless it exists. */
  async ensure(branch: Branch): Promise<void> {
    const { repository, name } = branch;
    const { status } = await this.#request("GET", `/repos/${repository}/branches/${name}`);
    if (status !== 404) return;
    const sha = await this.tipOf({ repository, name: "main" });
    await this.#api("POST", `/repos/${repository}/git/refs`, { ref: `refs/heads/${name}`, sha });
    await this.commit(branch);
  }

  /** SHA of the last commit. */
  async tipOf({ repository, name }: Pick<Branch, "repository" | "name">): Promise<string> {
    return (await this.#api<Tip>("GET", `/repos/${repository}/branches/${name}`)).commit.sha;
  }

  /** Commits a new file and returns the SHA. */
  async commit({ repository, name }: Branch): Promise<string> {
    const number = ++this.#commits;
    const content = Buffer.from(`${number}\n`).toString("base64");
    const path = `/repos/${repository}/contents/changes/${number}.txt`;
    const message = `Change ${number}`;
    return (await this.#api<Tip>("PUT", path, { message, content, branch: name })).commit.sha;
  }
}
