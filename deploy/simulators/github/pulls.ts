/**
 * A stand-in for what GitHub says of a pull request beyond the package `emulate`, where the head stays the commit that it was
 * opened with, all can be merged at once, and lists say as much as single ones.
 */
import { createHash } from "node:crypto";
import { forkedRepository } from "./forks.ts";
import { user } from "./seed.ts";

/** Whether it can be merged: GitHub is finding out, yes, or no. */
export type Mergeability = "pending" | "clean" | "conflict";

/** As much of a pull request as is looked at or changed. */
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

/** What GitHub has found out about merging one. */
interface Merging {
  outcome: Mergeability;
  /** The commits that it is the outcome for; with others, it is found out anew. */
  of: string | undefined;
  /** The last merge that it could try. */
  sha: string | null;
}

/** What only a single one says. */
const notInLists = [
  ...["mergeable", "mergeable_state", "rebaseable", "merged", "merged_by", "maintainer_can_modify"],
  ...["comments", "review_comments", "commits", "additions", "deletions", "changed_files"],
];

/** All pull requests that have changed since `emulate` took note. */
export class Pulls {
  readonly #heads = new Map<string, { readonly sha: string; readonly at: string }>();
  readonly #changes = new Map<string, string>();
  readonly #tips = new Map<string, string>();
  readonly #merging = new Map<string, Merging>();
  readonly #goneForks = new Set<string>();

  /** The branch of a pull request has moved. */
  moveHead(repository: string, number: number, sha: string): void {
    this.#heads.set(`${repository}#${number}`, { sha, at: new Date().toISOString() });
  }

  /** Something else has happened to a pull request: a label, a review. */
  touch(repository: string, number: number, at: string): void {
    this.#changes.set(`${repository}#${number}`, at);
  }

  /** A branch has moved that may be the base of some. */
  moveBase(repository: string, branch: string, sha: string): void {
    this.#tips.set(`${repository}@${branch}`, sha);
  }

  /** From now on that is the outcome, at once for the commits as they are and after a look for other ones. */
  decide(repository: string, number: number, outcome: Mergeability): void {
    const merging = this.#mergingOf(`${repository}#${number}`);
    Object.assign(merging, { outcome, of: "any" });
  }

  /** The repository has another name. */
  rename(from: string, to: string): void {
    for (const map of [this.#heads, this.#tips, this.#merging] as Map<string, unknown>[])
      for (const [key, value] of [...map])
        if (key.startsWith(`${from}#`) || key.startsWith(`${from}@`)) {
          map.delete(key);
          map.set(to + key.slice(from.length), value);
        }
  }

  loseFork(fork: string): void {
    this.#goneForks.add(fork);
  }

  /** GitHub has tried this merge. */
  hasMerge = (commit: string): boolean => [...this.#merging.values()].some(({ sha }) => sha === commit);

  /** Corrects a pull request, or those of a list, in place. Whether it is one. */
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
    if (fork !== undefined && this.#goneForks.has(fork)) value.head.repo = null;
    this.#merge(value);
    return true;
  }

  /** A client has looked at one that is corrected: GitHub finds out now whether it can be merged. */
  look(value: unknown): void {
    if (isPull(value)) this.#mergingOf(idOf(value)).of ??= this.#commitsOf(value);
  }

  #merge(pull: Pull): void {
    if (pull.merged) return;
    const merging = this.#mergingOf(idOf(pull));
    const commits = this.#commitsOf(pull);
    if (merging.of === "any") merging.of = commits;
    if (merging.of !== commits) merging.of = undefined;
    const { outcome } = merging;
    const known = merging.of !== undefined && outcome !== "pending";
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
    const found = this.#merging.get(id) ?? { outcome: "clean", of: undefined, sha: null };
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
 * Makes a pull request from there one of the fork itself, in place, by somebody who is nothing to the repository. The name of
 * the fork; undefined when it is from no fork.
 */
function asOfFork(pull: Pull): string | undefined {
  const { head, base } = pull;
  const stored = forkedRepository(base.repo.full_name);
  if (head.repo?.full_name !== stored) return undefined;
  const [login = "", name = "", ...branch] = head.ref.split("/");
  const fork = `${login}/${name}`;
  const stranger = JSON.parse(JSON.stringify(head.user).replaceAll(user.login, login));
  const repo = JSON.parse(JSON.stringify(head.repo).replaceAll(stored, fork));
  head.ref = branch.join("/");
  head.label = `${login}:${head.ref}`;
  head.user = stranger;
  head.repo = { ...repo, name, owner: stranger };
  pull.user = stranger;
  pull.author_association = "NONE";
  return fork;
}
