/** Reads GitHub's paginated lists. https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api */
import type { Answer } from "./call.ts";
import { GitHubError } from "./errors.ts";

/** GitHub's maximum page size. */
export const pageSize = 100;
/** Maximum number of pages of a list that is read completely. */
const mostPages = 100;

/**
 * A query parameter of the link to the next page. Only the parameter is used, so that credentials are not sent to another host.
 * Undefined if there is no next page or no such parameter.
 */
export function nextParameter(link: string | undefined, base: string, parameter: string): string | undefined {
  const next = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(link ?? "")?.[1];
  return next !== undefined && URL.canParse(next, base)
    ? (new URL(next, base).searchParams.get(parameter) ?? undefined)
    : undefined;
}

/**
 * The pages of a list, each requested when it is reached. Throws a {@link GitHubError} instead of ending early if the link to
 * the next page is invalid or the list has more than 10,000 items.
 */
export async function* pagesOf<T>(
  read: (page: number) => Promise<Answer<readonly T[]>>,
): AsyncGenerator<readonly T[], void> {
  for (let page = 1; ; page++) {
    const { body, link } = await read(page);
    yield body;
    if (!/\brel="?next"?/.test(link ?? "")) return;
    const next = nextParameter(link, "http://any", "page");
    if (next !== String(page + 1)) {
      throw new GitHubError(
        `the list has no link to its page ${page + 1}. Check that url is that of a GitHub.`,
      );
    }
    if (page === mostPages) {
      throw new GitHubError(
        `list too long: limit ${mostPages * pageSize} items. Close some of them on GitHub.`,
      );
    }
  }
}

/**
 * All items of a list that may change while it is read; undefined if it does not settle within five reads. `key` identifies
 * items.
 *
 * When an item is removed, later items move up, and the first one of a page may move to a page that was read already. So a list
 * of several pages is read until two consecutive reads have the same items: a read that missed an item had a removal, which the
 * next read does not have. Then no item is missing that existed all the time, unless the removed item was added and removed
 * again at the same two moments. An item that moves down is read twice and returned once.
 */
export async function settledList<T>(
  read: (page: number) => Promise<Answer<readonly T[]>>,
  key: (item: T) => number,
): Promise<T[] | undefined> {
  let before: string | undefined;
  for (let readings = 0; readings < 5; readings++) {
    const items = new Map<number, T>();
    let pages = 0;
    for await (const page of pagesOf(read)) {
      pages++;
      for (const item of page) items.set(key(item), item);
    }
    const found = [...items.keys()].sort((a, b) => a - b).join();
    // A single page is consistent.
    if (pages === 1 || found === before) return [...items.values()];
    before = found;
  }
  return undefined;
}
