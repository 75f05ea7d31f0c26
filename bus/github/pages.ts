/** Lists that GitHub gives in pages. https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api */
import type { Answer } from "./call.ts";
import { GitHubError } from "./errors.ts";

/** As many on a page as GitHub gives. */
export const pageSize = 100;
/** No list that is read to its end is longer than this. */
const mostPages = 100;

/**
 * A parameter of the link to the next page. Only that is taken from the link: wherever else it leads, the credentials do
 * not. Undefined when there is no next page, or no such parameter.
 */
export function nextParameter(link: string | undefined, base: string, parameter: string): string | undefined {
  const next = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(link ?? "")?.[1];
  return next !== undefined && URL.canParse(next, base)
    ? (new URL(next, base).searchParams.get(parameter) ?? undefined)
    : undefined;
}

/**
 * The pages of a list, each asked for when it is reached. Throws a {@link GitHubError} rather than end early: when the way
 * to the next page can not be read, and when there are more than 10,000 items.
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
        `expected a link to page ${page + 1} of a list, found a link to no page or to another one. Check that url is that of a GitHub.`,
      );
    }
    if (page === mostPages) {
      throw new GitHubError(
        `expected a list of at most ${mostPages * pageSize} items, found more. Close some of what is open there.`,
      );
    }
  }
}

/**
 * All items of a list that may change while it is read; undefined when it does not come to rest within five readings. `key`
 * tells items apart.
 *
 * When an item goes, those behind it move up, and the first one of a page may become the last one of the page before, which
 * was read already. So a list of several pages is read until two readings in a row have the same items: a reading that
 * has lost one has met the one that went, and the next does not meet that again. Nothing is missing then that was there all
 * the time, unless what went came back and went again at the same two moments. What moves down is met twice and given once.
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
    // One page is one moment.
    if (pages === 1 || found === before) return [...items.values()];
    before = found;
  }
  return undefined;
}
