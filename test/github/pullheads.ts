/**
 * A stand-in for pull requests that follow their branch: in the package `emulate` the head of a pull request stays
 * the commit it was opened with, and no `synchronize` is sent when its branch moves.
 */

/** As much of a pull request as changes. */
interface Pull {
  readonly number: number;
  readonly head: { sha: string };
  readonly base: { readonly repo: { readonly full_name: string } };
  statuses_url: string;
  readonly _links: { readonly statuses: { href: string } };
}

/** The heads that have moved since. */
export class PullHeads {
  readonly #moved = new Map<string, string>();

  move(repository: string, number: number, sha: string): void {
    this.#moved.set(`${repository}#${number}`, sha);
  }

  /** Corrects a pull request, or those of a list, in place. Whether there was anything to correct. */
  correct(value: unknown): boolean {
    if (Array.isArray(value)) return value.filter((item) => this.correct(item)).length > 0;
    if (!isPull(value)) return false;
    const sha = this.#moved.get(`${value.base.repo.full_name}#${value.number}`);
    if (sha === undefined || value.head.sha === sha) return false;
    value.statuses_url = value.statuses_url.replace(value.head.sha, sha);
    value._links.statuses.href = value.statuses_url;
    value.head.sha = sha;
    return true;
  }
}

const isPull = (value: unknown): value is Pull =>
  typeof value === "object" && value !== null && "number" in value && "head" in value && "base" in value;
