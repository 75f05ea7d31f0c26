/** What a RemoteSync follows, and which webhooks are about it. Pure. */
import { repositoryKeys, repositoryText } from "../identity.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";

/** What is followed. A branch without a name is the repository's default one. */
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

/** Fields of a spec that modoki-operator took and that are to be replaced, for people. Their meaning is the one they had. */
export function deprecatedIn({ spec }: Pick<RemoteSync, "spec">): string | undefined {
  const { sha, pullRequest, branch } = spec.base.github;
  const given = Object.entries({ sha, pullRequest, branch }).flatMap(([name, value]) =>
    value ? [name] : [],
  );
  const [first, ...ignored] = given;
  const texts = [
    ...(ignored.length > 0
      ? [`spec.base.github has ${given.join(", ")}: only ${first} counts, remove ${ignored.join(" and ")}`]
      : []),
    ...(sha && !isCommitId(sha)
      ? [
          `spec.base.github.sha is ${sha}, for which GitHub is asked: write the whole commit id, or use branch`,
        ]
      : []),
  ];
  return texts.length > 0 ? texts.join("; ") : undefined;
}

/** How a branch, a pull request, and a branch that pull requests are merged into stand in the index. */
export const indexed = {
  branch: (repository: string, branch = ""): string => `${repository}@${branch}`,
  pullRequest: (repository: string, number: number): string => `${repository}#${number}`,
  ref: (repository: string, name: string): string => `${repository}?${name}`,
  base: (repository: string, branch: string): string => `${repository}^${branch}`,
} as const;

/** Under what a RemoteSync is in the index of sources: by its repository's name and, once that is known, by GitHub's id. */
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
      // What it comes to also changes when the branch moves that it is to be merged into.
      const base = source.revision === "Merge" ? sync.status?.baseBranch : undefined;
      return [
        indexed.pullRequest(repository, source.number),
        ...(base === undefined ? [] : [indexed.base(repository, base)]),
      ];
    }
  }
}

/** The branch that a push is to; undefined for a tag. */
export const pushedBranch = (ref: string): string | undefined => /^refs\/heads\/(.+)$/.exec(ref)?.[1];

/** The tag that a push is to. */
export const pushedTag = (ref: string): string | undefined => /^refs\/tags\/(.+)$/.exec(ref)?.[1];

/** What a push to a branch is about. */
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

/** A source as text: of another one, what was resolved says nothing. */
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
