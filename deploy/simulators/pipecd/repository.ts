/** A simulated git repository: the files and commits of one branch. */
import { createHash } from "node:crypto";

/** A commit of the branch. */
export interface RepositoryCommit {
  readonly hash: string;
  readonly message: string;
  readonly trailers: Readonly<Record<string, string>>;
  /** Paths of the changed files. */
  readonly paths: readonly string[];
}

/** A repository with one branch. */
export interface Repository {
  /** File contents by path. */
  readonly files: ReadonlyMap<string, string>;
  /** All commits; the last one is the head. */
  readonly commits: readonly RepositoryCommit[];
  commit(
    message: string,
    changes: ReadonlyMap<string, string>,
    trailers?: Readonly<Record<string, string>>,
  ): RepositoryCommit;
  /** Rejects pushes with this message of git; undefined accepts them again. */
  rejectPushes(message: string | undefined): void;
}

/** Creates a repository whose first commit has these files. */
export function openRepository(first: Readonly<Record<string, string>>): Repository {
  const files = new Map<string, string>();
  const commits: RepositoryCommit[] = [];
  let rejection: string | undefined;
  const repository: Repository = {
    files,
    commits,
    commit(message, changes, trailers = {}) {
      if (rejection !== undefined) throw new Error(rejection);
      const content = [commits.at(-1)?.hash, message, [...changes], trailers];
      const hash = createHash("sha1").update(JSON.stringify(content)).digest("hex");
      for (const [path, text] of changes) files.set(path, text);
      const commit = { hash, message, trailers, paths: [...changes.keys()] };
      commits.push(commit);
      return commit;
    },
    rejectPushes(message) {
      rejection = message;
    },
  };
  repository.commit("first", new Map(Object.entries(first)));
  return repository;
}
