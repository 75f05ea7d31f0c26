/** The commits that there are: those of the package `emulate`, and the merges that are tried. */
import { forkedRepository } from "./forks.ts";
import type { UserRequest } from "./userrequests.ts";

/** Whether there are commits, and which. */
export interface Commits {
  /** Those of forks are in the repository, too. */
  has(repository: string, sha: string): Promise<boolean>;
  /** The commit that a branch or a SHA stands for. */
  resolve(repository: string, ref: string): Promise<string | undefined>;
}

/** Asked for by `request`; `isMerge` knows those that `emulate` does not. */
export function commitsOf(request: UserRequest, isMerge: (sha: string) => boolean): Commits {
  async function has(repository: string, sha: string): Promise<boolean> {
    for (const at of [repository, forkedRepository(repository)])
      if ((await request("GET", `/repos/${at}/git/commits/${sha}`)).status === 200) return true;
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
