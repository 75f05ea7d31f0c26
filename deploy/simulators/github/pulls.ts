/**
 * Corrects pull requests from the package `emulate`. There the head stays at the first commit, every pull request is
 * mergeable at once, and items of lists have all fields.
 */
import { createHash } from "node:crypto";
import { forkedRepository } from "./forks.ts";
import { user } from "./seed.ts";

/** Whether a pull request can be merged; `pending` while GitHub computes it. */
export type Mergeability = "pending" | "clean" | "conflict";

/** The fields of a pull request that are read or changed. */
export interface Pull {
  readonly number: number;
  readonly draft: boolean;
  readonly merged: boolean;
  mergeable?: boolean | null;
  mergeable_state?: string;
  rebaseable?: boolean | null;
  merge_commit_sha: string | null;
  updated_at: string;
  statuses_url: string;
  user: { login: string } | null;
  author_association: string;
  head: {
    label: string | null;
    ref: string;
    sha: string;
    user: { login: string } | null;
    repo: { full_name: string } | null;
  };
  readonly base: {
    readonly ref: string;
    readonly sha: string;
    readonly repo: { readonly full_name: string };
  };
  readonly _links: { readonly statuses: { href: string } };
}

/** Mergeability of a pull request. */
interface Merging {
  outcome: Mergeability;
  /** The commits that the outcome applies to. Other commits need a new computation. */
  commits: string | undefined;
  /** The last test merge commit. */
  sha: string | null;
}

/** Fields that lists omit. */
const notInLists = [
  ...["mergeable", "mergeable_state", "rebaseable", "merged", "merged_by", "maintainer_can_modify"],
  ...["comments", "review_comments", "commits", "additions", "deletions", "changed_files"],
];

/** Changes to pull requests that `emulate` does not support. */
export class Pulls {
  readonly #heads = new Map<string, { readonly sha: string; readonly at: string }>();
  readonly #changes = new Map<string, string>();
  readonly #tips = new Map<string, string>();
  readonly #merging = new Map<string, Merging>();
  readonly #deletedForks = new Set<string>();

  /** Records that the branch of a pull request has moved. */
  moveHead(repository: string, number: number, sha: string): void {
    this.#heads.set(`${repository}#${number}`, { sha, at: new Date().toISOString() });
  }

  /** Records the time of another change to a pull request, such as a label or a review. */
  touch(repository: string, number: number, at: string): void {
    this.#changes.set(`${repository}#${number}`, at);
  }

  /** Records that a branch, which may be a base, has moved. */
  moveBase(repository: string, branch: string, sha: string): void {
    this.#tips.set(`${repository}@${branch}`, sha);
  }

  /** Sets the outcome: at once for the current commits, and after a read for later ones. */
  decide(repository: string, number: number, outcome: Mergeability): void {
    const merging = this.#mergingOf(`${repository}#${number}`);
    Object.assign(merging, { outcome, commits: "any" });
  }

  /** Renames a repository. */
  rename(from: string, to: string): void {
    for (const map of [this.#heads, this.#tips, this.#merging] as Map<string, unknown>[])
      for (const [key, value] of [...map])
        if (key.startsWith(`${from}#`) || key.startsWith(`${from}@`)) {
          map.delete(key);
          map.set(to + key.slice(from.length), value);
        }
  }

  deleteFork(fork: string): void {
    this.#deletedForks.add(fork);
  }

  /** Whether the commit is a test merge. */
  hasMerge = (commit: string): boolean => [...this.#merging.values()].some(({ sha }) => sha === commit);

  /** Corrects a pull request or a list of them in place. Returns whether the value is one. */
  correct(value: unknown): boolean {
    if (Array.isArray(value)) {
      for (const item of value.filter((one) => this.correct(one)))
        for (const field of notInLists) delete item[field];
      return true;
    }
    if (!isPull(value)) return false;
    const head = this.#heads.get(idOf(value));
    if (head !== undefined) {
      value.statuses_url = value.statuses_url.replace(value.head.sha, head.sha);
      value._links.statuses.href = value.statuses_url;
      value.head.sha = head.sha;
      if (value.updated_at < head.at) value.updated_at = head.at;
    }
    const changed = this.#changes.get(idOf(value));
    if (changed !== undefined && value.updated_at < changed) value.updated_at = changed;
    const fork = asOfFork(value);
    if (fork !== undefined && this.#deletedForks.has(fork)) value.head.repo = null;
    this.#merge(value);
    return true;
  }

  /** A client has read a corrected pull request, so GitHub computes whether it can be merged. */
  markViewed(value: unknown): void {
    if (isPull(value)) this.#mergingOf(idOf(value)).commits ??= this.#commitsOf(value);
  }

  #merge(pull: Pull): void {
    if (pull.merged) return;
    const merging = this.#mergingOf(idOf(pull));
    const commits = this.#commitsOf(pull);
    if (merging.commits === "any") merging.commits = commits;
    if (merging.commits !== commits) merging.commits = undefined;
    const { outcome } = merging;
    const known = merging.commits !== undefined && outcome !== "pending";
    if (known && outcome === "clean") merging.sha = createHash("sha1").update(commits).digest("hex");
    pull.mergeable = known ? outcome === "clean" : null;
    pull.rebaseable = pull.mergeable;
    pull.mergeable_state = known
      ? outcome === "conflict"
        ? "dirty"
        : pull.draft
          ? "draft"
          : "clean"
      : "unknown";
    pull.merge_commit_sha = merging.sha;
  }

  #mergingOf(id: string): Merging {
    const found = this.#merging.get(id) ?? { outcome: "clean", commits: undefined, sha: null };
    this.#merging.set(id, found);
    return found;
  }

  #commitsOf({ head, base }: Pull): string {
    return `${head.sha} ${this.#tips.get(`${base.repo.full_name}@${base.ref}`) ?? base.sha}`;
  }
}

const idOf = ({ number, base }: Pull): string => `${base.repo.full_name}#${number}`;

const isPull = (value: unknown): value is Pull =>
  typeof value === "object" && value !== null && "number" in value && "head" in value && "base" in value;

/**
 * Rewrites a pull request from `emulate`'s fork, in place, so that it comes from the simulated fork and its author is an
 * outsider. Returns the fork's name; undefined if the pull request is not from a fork.
 */
function asOfFork(pull: Pull): string | undefined {
  const { head, base } = pull;
  const stored = forkedRepository(base.repo.full_name);
  if (head.repo?.full_name !== stored) return undefined;
  const [login = "", name = "", ...branch] = head.ref.split("/");
  const fork = `${login}/${name}`;
  const outsider = JSON.parse(JSON.stringify(head.user).replaceAll(user.login, login));
  const repo = JSON.parse(JSON.stringify(head.repo).replaceAll(stored, fork));
  head.ref = branch.join("/");
  head.label = `${login}:${head.ref}`;
  head.user = outsider;
  head.repo = { ...repo, name, owner: outsider };
  pull.user = outsider;
  pull.author_association = "NONE";
  return fork;
}
