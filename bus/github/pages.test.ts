import fc from "fast-check";
import { expect, test } from "vitest";
import { GitHubError } from "./errors.ts";
import { nextParameter, pagesOf, settledList } from "./pages.ts";

const base = "https://github.example.com/api/v3";
const linkTo = (page: number) => `<${base}/pulls?per_page=3&page=${page}>; rel="next"`;

test("pages - uses only the parameter of the link to the next page", () => {
  const link = '<https://a/b?page=1>; rel="prev", <https://evil.example?cursor=c&page=3>; rel="next"';
  expect(nextParameter(link, base, "page")).toBe("3");
  expect(nextParameter(link, base, "cursor")).toBe("c");
  for (const none of [
    undefined,
    "",
    '<https://a?page=1>; rel="prev"',
    '<>; rel="next"',
    "<http://>; rel=next",
  ])
    expect(nextParameter(none, base, "page"), none).toBeUndefined();
});

async function numbered(links: (page: number) => string | undefined): Promise<number[]> {
  const seen: number[] = [];
  const read = async (page: number) => ({ body: [page], link: links(page) });
  for await (const page of pagesOf(read)) seen.push(...page);
  return seen;
}

test("pages - reads a list while there is a next page", async () => {
  expect(await numbered((page) => (page < 4 ? linkTo(page + 1) : '<https://a?page=3>; rel="prev"'))).toEqual([
    1, 2, 3, 4,
  ]);
  expect(await numbered((page) => (page < 100 ? linkTo(page + 1) : undefined))).toHaveLength(100);
});

test.each([
  ["no page", () => '<https://a?cursor=x>; rel="next"', /^the list has no link to its page 2\./],
  ["the same page", (page: number) => linkTo(page), /^the list has no link to its page 2\./],
  ["a page too far", (page: number) => linkTo(page + 2), /^the list has no link to its page 2\./],
  ["no end", (page: number) => linkTo(page + 1), /^list too long: limit 10000 items\./],
])("pages - a list with %s is an error, and not a shorter list", async (_, links, message) => {
  let reads = 0;
  const error = await numbered((page) => {
    reads++;
    return links(page);
  }).catch((thrown: unknown) => thrown);
  expect(reads).toBeLessThanOrEqual(100);
  expect(error).toBeInstanceOf(GitHubError);
  expect((error as Error).message).toMatch(message);
  expect((error as Error).message).not.toMatch(/cursor|rel=|example/);
});

const pageLength = 3;

/** A list of numbers in order; `change` runs before the next page is read. */
function changing(list: Set<number>, change: () => void) {
  const read = async (page: number) => {
    change();
    const all = [...list].sort((a, b) => a - b);
    const body = all.slice((page - 1) * pageLength, page * pageLength);
    return { body, link: all.length > page * pageLength ? linkTo(page + 1) : undefined };
  };
  return settledList(read, (item) => item);
}

test("pages - finds an item that moves to a page that was read already", async () => {
  const list = new Set([1, 2, 3, 4, 5, 6, 7]);
  let reads = 0;
  const found = await changing(list, () => {
    if (++reads === 2) list.delete(1);
  });
  expect(found).toEqual([2, 3, 4, 5, 6, 7]);
});

test("pages - returns an item that was read twice once", async () => {
  const list = new Set([2, 3, 4, 5, 6]);
  let reads = 0;
  const found = await changing(list, () => {
    if (++reads === 2) list.add(1);
  });
  expect(found).toEqual([1, 2, 3, 4, 5, 6]);
});

test("pages - reads a single page once, and several until they stay the same", async () => {
  let reads = 0;
  const counted = () => void reads++;
  expect(await changing(new Set([1, 2, 3]), counted)).toEqual([1, 2, 3]);
  expect(reads).toBe(1);
  expect(await changing(new Set([1, 2, 3, 4]), counted)).toEqual([1, 2, 3, 4]);
  expect(reads).toBe(5);
});

test("pages - returns undefined for a list that does not settle", async () => {
  const list = new Set(Array.from({ length: 50 }, (_, index) => index));
  let reads = 0;
  expect(await changing(list, () => void list.delete(reads++))).toBeUndefined();
});

test("pages - returns every item that exists all the time, whatever else changes", async () => {
  const change = fc.record({ before: fc.nat(30), item: fc.nat(25) });
  const properties = fc.asyncProperty(
    fc.uniqueArray(fc.nat(25), { minLength: 4 }),
    fc.array(change, { maxLength: 8 }),
    async (there, changes) => {
      const list = new Set(there);
      const always = new Set(there);
      // Each is added or removed once.
      const left = new Map(changes.map(({ before, item }) => [item, before]));
      let reads = 0;
      const found = await changing(list, () => {
        for (const [item, before] of left) {
          if (before !== reads) continue;
          if (!list.delete(item)) list.add(item);
          always.delete(item);
        }
        reads++;
      });
      if (found !== undefined) expect(found).toEqual(expect.arrayContaining([...always]));
    },
  );
  await fc.assert(properties, { numRuns: 2000 });
});
