/** Looks up commits in the package `emulate` and among the test merges of pull requests. */
import { forkedRepository } from "./forks.ts";
import type { UserRequest } from "./userrequests.ts";

/** Lookup of commits. */
export interface Commits {
  /** Whether the commit exists, in the repository or its fork. */
  has(repository: string, sha: string): Promise<boolean>;
  /** Resolves a branch or SHA to a commit. */
  resolve(repository: string, ref: string): Promise<string | undefined>;
}

/** Creates the lookup; `isMerge` reports whether a SHA is a test merge, which `emulate` does not have. */
export function commitsOf(request: UserRequest, isMerge: (sha: string) => boolean): Commits {
  async function has(repository: string, sha: string): Promise<boolean> {
    for (const name of [repository, forkedRepository(repository)])
      if ((await request("GET", `/repos/${name}/git/commits/${sha}`)).status === 200) return true;
    return isMerge(sha);
  }
  return {
    has,
    async resolve(repository, ref) {
      if (await has(repository, ref)) return ref;
      const branch = await request("GET", `/repos/${repository}/branches/${ref}`);
      return branch.status === 200 ? JSON.parse(branch.body.toString()).commit.sha : undefined;
    },
  };
}
