/** A simulated repository, as agents see it: files of one branch, and its commits. */
import { createHash } from "node:crypto";

/** A commit of the branch. */
export interface RepositoryCommit {
  readonly hash: string;
  readonly message: string;
  readonly trailers: Readonly<Record<string, string>>;
  /** Paths of the files that it changes. */
  readonly paths: readonly string[];
}

/** One branch. */
export interface Repository {
  /** Contents by path. */
  readonly files: ReadonlyMap<string, string>;
  /** The last one is the head. */
  readonly commits: readonly RepositoryCommit[];
  commit(
    message: string,
    changes: ReadonlyMap<string, string>,
    trailers?: Readonly<Record<string, string>>,
  ): RepositoryCommit;
  /** From now on pushes are refused, and git prints this; undefined takes it back. */
  refusePushes(message: string | undefined): void;
}

/** A repository whose first commit has these files. */
export function openRepository(first: Readonly<Record<string, string>>): Repository {
  const files = new Map<string, string>();
  const commits: RepositoryCommit[] = [];
  let refusal: string | undefined;
  const repository: Repository = {
    files,
    commits,
    commit(message, changes, trailers = {}) {
      if (refusal !== undefined) throw new Error(refusal);
      const content = [commits.at(-1)?.hash, message, [...changes], trailers];
      const hash = createHash("sha1").update(JSON.stringify(content)).digest("hex");
      for (const [path, text] of changes) files.set(path, text);
      const commit = { hash, message, trailers, paths: [...changes.keys()] };
      commits.push(commit);
      return commit;
    },
    refusePushes(message) {
      refusal = message;
    },
  };
  repository.commit("first", new Map(Object.entries(first)));
  return repository;
}
