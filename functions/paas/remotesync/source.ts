/** The source of a RemoteSync, and which webhooks concern it. Pure. */
import { repositoryKeys, repositoryText } from "../identity.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";

/** A source. A branch without a name is the repository's default branch. */
export type Source =
  | { readonly type: "commit"; readonly sha: string }
  /** A tag, or the first digits of a commit id, in place of the commit. */
  | { readonly type: "ref"; readonly name: string }
  | { readonly type: "pull request"; readonly number: number; readonly revision: "Head" | "Merge" }
  | { readonly type: "branch"; readonly name: string | undefined };

export function sourceOf({ spec }: Pick<RemoteSync, "spec">): Source {
  const { sha, pullRequest, branch } = spec.base.github;
  if (sha) return isCommitId(sha) ? { type: "commit", sha: sha.toLowerCase() } : { type: "ref", name: sha };
  if (pullRequest) return { type: "pull request", number: pullRequest, revision: spec.revision ?? "Merge" };
  return { type: "branch", name: branch || undefined };
}

const isCommitId = (text: string): boolean => /^[0-9a-f]{40}$/i.test(text);

/** Deprecated fields of modoki-operator that a spec uses, as text for the user. They keep their meaning. */
export function deprecatedIn({ spec }: Pick<RemoteSync, "spec">): string | undefined {
  const { sha, pullRequest, branch } = spec.base.github;
  const given = Object.entries({ sha, pullRequest, branch }).flatMap(([name, value]) =>
    value ? [name] : [],
  );
  const [first, ...ignored] = given;
  const texts = [
    ...(ignored.length > 0
      ? [
          `spec.base.github sets ${given.join(", ")}: only ${first} takes effect, remove ${ignored.join(" and ")}`,
        ]
      : []),
    ...(sha && !isCommitId(sha)
      ? [
          `spec.base.github.sha is ${sha}, which is not a full commit id: set the full commit id, or use branch`,
        ]
      : []),
  ];
  return texts.length > 0 ? texts.join("; ") : undefined;
}

/** Index keys of a branch, a pull request, a tag, and a branch that pull requests target. */
export const indexed = {
  branch: (repository: string, branch = ""): string => `${repository}@${branch}`,
  pullRequest: (repository: string, number: number): string => `${repository}#${number}`,
  ref: (repository: string, name: string): string => `${repository}?${name}`,
  base: (repository: string, branch: string): string => `${repository}^${branch}`,
} as const;

/** Index keys of a RemoteSync's source: by its repository's name and, once that is known, by GitHub's id. */
export const sourcesOf = (sync: RemoteSync): string[] =>
  repositoryKeys(sync.spec.base.github, sync.status?.repository).flatMap((key) => sourcesIn(key, sync));

function sourcesIn(repository: string, sync: RemoteSync): string[] {
  const source = sourceOf(sync);
  switch (source.type) {
    case "commit":
      return [];
    case "ref":
      return [indexed.ref(repository, source.name)];
    case "branch":
      return [indexed.branch(repository, source.name)];
    case "pull request": {
      // The merge result also changes when the target branch moves.
      const base = source.revision === "Merge" ? sync.status?.baseBranch : undefined;
      return [
        indexed.pullRequest(repository, source.number),
        ...(base === undefined ? [] : [indexed.base(repository, base)]),
      ];
    }
  }
}

/** The branch of a push; undefined for a tag. */
export const pushedBranch = (ref: string): string | undefined => /^refs\/heads\/(.+)$/.exec(ref)?.[1];

/** The tag of a push; undefined for a branch. */
export const pushedTag = (ref: string): string | undefined => /^refs\/tags\/(.+)$/.exec(ref)?.[1];

/** Index keys for a push to a branch. */
export const sourcesOfPush = (
  repository: string,
  branch: string,
  defaultBranch: string | undefined,
): string[] => [
  indexed.branch(repository, branch),
  indexed.base(repository, branch),
  indexed.ref(repository, branch),
  ...(branch === defaultBranch ? [indexed.branch(repository)] : []),
];

/** Identifies a source: a result for another source is void. */
export function sourceText(sync: Pick<RemoteSync, "spec">): string {
  const { owner, repo } = sync.spec.base.github;
  const source = sourceOf(sync);
  const repository = repositoryText(owner, repo);
  switch (source.type) {
    case "commit":
      return `${repository} ${source.sha}`;
    case "ref":
      return `${repository} ${source.name}`;
    case "branch":
      return `${repository}@${source.name ?? ""}`;
    case "pull request":
      return `${repository}#${source.number} ${source.revision}`;
  }
}
