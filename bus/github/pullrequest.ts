/** A pull request, reduced to the fields in use. https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request */
import { z } from "zod";

/** One side of a pull request. */
export interface Side {
  /** The branch. */
  readonly ref: string;
  readonly sha: string;
}

/** A pull request. */
export interface PullRequest {
  readonly number: number;
  readonly state: "open" | "closed";
  readonly title: string;
  readonly draft: boolean;
  readonly labels: readonly string[];
  readonly createdAt: Date;
  /** The last change of any kind, including comments and labels. */
  readonly updatedAt: Date;
  /** Whether it can be merged: null while GitHub computes it, undefined in lists, which omit it. */
  readonly mergeable: boolean | null | undefined;
  /**
   * Commit of GitHub's test merge, or of the actual merge. While `mergeable` is not true, it may belong to another head or
   * base.
   */
  readonly mergeCommitSha: string | null;
  /** The author's association with the repository: `OWNER`, `MEMBER`, `COLLABORATOR`, `CONTRIBUTOR`, `NONE`, … */
  readonly authorAssociation: string;
  /** A login; undefined for a deleted account. */
  readonly author: string | undefined;
  /** `repository` is a full name; undefined for a deleted fork. */
  readonly head: Side & { readonly repository: string | undefined };
  /** `repositoryId` is GitHub's id of that repository, which survives a rename; undefined if the server omits it. */
  readonly base: Side & { readonly repository: string; readonly repositoryId: number | undefined };
  /** The page for people. */
  readonly url: string;
}

const repo = z.object({ full_name: z.string() });

export const pullRequestAnswer: z.ZodType<PullRequest> = z
  .object({
    number: z.int(),
    state: z.enum(["open", "closed"]),
    title: z.string(),
    draft: z.boolean().optional(),
    labels: z.array(z.object({ name: z.string() })),
    created_at: z.iso.datetime({ offset: true }),
    updated_at: z.iso.datetime({ offset: true }),
    mergeable: z.boolean().nullable().optional(),
    merge_commit_sha: z.string().nullish(),
    author_association: z.string(),
    user: z.object({ login: z.string() }).nullable(),
    head: z.object({ ref: z.string(), sha: z.string(), repo: repo.nullable() }),
    base: z.object({ ref: z.string(), sha: z.string(), repo: repo.extend({ id: z.int().optional() }) }),
    html_url: z.string(),
  })
  .transform(({ number, state, title, head, base, ...rest }) => ({
    number,
    state,
    title,
    draft: rest.draft ?? false,
    labels: rest.labels.map(({ name }) => name),
    createdAt: new Date(rest.created_at),
    updatedAt: new Date(rest.updated_at),
    mergeable: rest.mergeable,
    mergeCommitSha: rest.merge_commit_sha ?? null,
    authorAssociation: rest.author_association,
    author: rest.user?.login,
    head: { ref: head.ref, sha: head.sha, repository: head.repo?.full_name },
    base: { ref: base.ref, sha: base.sha, repository: base.repo.full_name, repositoryId: base.repo.id },
    url: rest.html_url,
  }));
