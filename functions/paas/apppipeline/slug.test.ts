import fc from "fast-check";
import { expect, test } from "vitest";
import type { Preview } from "../kinds/apppipeline.ts";
import type { Candidate } from "./select.ts";
import { slugOf, withSlugs } from "./slug.ts";

const label = /^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$/;
const slug = (headRef: string, fork?: string) => slugOf({ number: 7, headRef, ...(fork && { fork }) });

/** Branch names that `git check-ref-format --branch` accepts. https://git-scm.com/docs/git-check-ref-format */
function isLegal(branch: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git forbids them.
  if (branch === "" || /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\.$|^-|^\/|\/$/.test(branch)) return false;
  return (
    branch !== "@" && branch.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"))
  );
}

const character = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(..."abAB09-_./") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "機",
      "能",
      "支",
      "払",
      "い",
      "é",
      "e\u0301",
      "ß",
      "İ",
      "K",
      "Ж",
      "🚀",
      "👩‍💻",
      "ا",
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }) },
);
const branch = fc.string({ unit: character, minLength: 1, maxLength: 255 }).filter(isLegal);
/** Names that differ only in case, in punctuation, or behind the cut. */
const twin = (name: string) =>
  fc.constantFrom(
    name.toUpperCase(),
    name.toLowerCase(),
    name.replaceAll(/[^\p{L}\p{N}]/gu, "-"),
    name.replaceAll("-", "/"),
    name.replaceAll("/", "_"),
    `${name}-`,
    `${name}_x`,
    `x/${name}`,
    name.normalize("NFD"),
    name.padEnd(250, "a"),
    name.padEnd(251, "a"),
    slug(name),
  );

test.each(["new-login", "1234", "a", "v2", "a".repeat(50)])("keeps %s, which is a label", (name) => {
  expect(slug(name)).toBe(name);
});

test("gives other branches their readable part and a digest", () => {
  expect(slug("Feature/New_Login")).toMatch(/^feature-new-login-[0-9a-f]{10}$/);
  expect(slug("-dashes-")).toMatch(/^dashes-[0-9a-f]{10}$/);
  for (const name of ["機能/支払い", "🚀", "___"]) expect(slug(name)).toMatch(/^branch-[0-9a-f]{10}$/);
  expect(slug("a".repeat(51))).toMatch(/^a{39}-[0-9a-f]{10}$/);
  // A branch cannot claim the slug of another one.
  expect(slug(slug("機能/支払い"))).not.toBe(slug("機能/支払い"));
});

test("results in a stable DNS label for any branch", () => {
  fc.assert(
    fc.property(branch, (name) => {
      expect(slug(name)).toMatch(label);
      expect(slug(name)).toBe(slug(name));
    }),
  );
});

test("gives different branches different slugs, however similar they are", () => {
  const pair = branch.chain((one) => fc.tuple(fc.constant(one), fc.oneof(twin(one), branch)));
  fc.assert(
    fc.property(pair, ([one, other]) => {
      fc.pre(one !== other && isLegal(other));
      expect(slug(one)).not.toBe(slug(other));
    }),
    { numRuns: 1000 },
  );
});

test("distinguishes a fork's branch of the same name", () => {
  const all = [slug("patch-1"), slug("patch-1", "a/web"), slug("patch-1", "b/web")];
  expect(new Set(all).size).toBe(3);
  expect(slug("patch-1", "A/Web")).toBe(slug("patch-1", "a/web"));
});

const candidate = (number: number, headRef: string, fork?: string): Candidate => ({
  ...{ number, headSHA: "a", headRef, since: "2026-01-01T00:00:00Z" },
  ...(fork && { fork }),
});
const shown = (number: number, headRef: string, more: Partial<Preview> = {}): Preview => ({
  ...candidate(number, headRef),
  ...{ phase: "Ready", application: `app-${number}` },
  ...more,
});
const slugs = (candidates: readonly Candidate[], before: readonly Preview[] = []) =>
  withSlugs(candidates, before).map((one) => one.slug);

test("keeps the slug of a preview from an earlier version unless it is ambiguous", () => {
  const now = [
    candidate(1, "feature/a"),
    candidate(2, "feature-b"),
    candidate(3, "feature/b"),
    candidate(4, "機能"),
  ];
  const before = [shown(1, "feature/a"), shown(2, "feature-b"), shown(3, "feature/b"), shown(4, "機能")];
  expect(slugs(now, before)).toEqual(["feature-a", "feature-b", slug("feature/b"), slug("機能")]);
});

test("keeps a recorded slug, and gives it to no other branch", () => {
  const before = [shown(1, "feature/a", { slug: "feature-a" })];
  const [kept, other] = slugs([candidate(1, "feature/a"), candidate(2, "feature-a")], before);
  expect(kept).toBe("feature-a");
  expect(other).toMatch(/^feature-a-[0-9a-f]{10}$/);
});

test("gives a pull request without an earlier preview the slug of its branch", () => {
  const { application: _, ...waiting } = shown(1, "feature/a");
  expect(slugs([candidate(1, "feature/a")], [waiting])).toEqual([slug("feature/a")]);
});

test("gives the first pull request of a branch the branch's slug, and each keeps its own", () => {
  const now = [
    candidate(3, "change"),
    candidate(1, "change"),
    candidate(2, "feature/a"),
    candidate(4, "feature/a"),
  ];
  const [third, first, second, fourth] = slugs(now);
  expect([first, second]).toEqual(["change", slug("feature/a")]);
  expect(third).toMatch(/^change-[0-9a-f]{10}$/);
  expect(fourth).toMatch(/^feature-a-[0-9a-f]{10}$/);
  expect(fourth).not.toBe(second);
  const before = [shown(3, "change", { slug: third }), shown(1, "change", { slug: first })];
  expect(slugs([candidate(3, "change")], before)).toEqual([third]);
  // A pull request that passes the filter later does not take a slug away.
  expect(
    slugs([candidate(3, "change"), candidate(1, "change")], [shown(3, "change", { slug: "change" })]),
  ).toEqual(["change", expect.stringMatching(/^change-[0-9a-f]{10}$/)]);
});

test("lets the first of several previews keep a shared slug", () => {
  const both = [candidate(1, "change"), candidate(2, "change")];
  const noted = both.map(({ number }) => shown(number, "change", { slug: "change" }));
  expect(slugs(both, noted)).toEqual(["change", expect.stringMatching(/^change-[0-9a-f]{10}$/)]);
});

test("gives all pull requests of a pipeline different and stable slugs", () => {
  const pulls = fc.array(
    fc.tuple(fc.constantFrom("a", "A", "a-", "a/b", "a-b", "a_b", "機", "能"), fc.constantFrom("", "x/web")),
    { minLength: 2, maxLength: 12 },
  );
  fc.assert(
    fc.property(pulls, fc.subarray([0, 1, 2, 3, 4, 5]), (all, old) => {
      const now = all.map(([headRef, fork], at) => candidate(at, headRef, fork));
      const before = old.flatMap((at) => {
        const one = now[at];
        return one === undefined ? [] : [{ ...one, phase: "Ready" as const, application: "app" }];
      });
      const first = withSlugs(now, before);
      expect(new Set(first.map((one) => one.slug)).size).toBe(now.length);
      for (const one of first) expect(one.slug).toMatch(label);
      const noted = first.map((one) => ({ ...one, phase: "Ready" as const, application: "app" }));
      expect(slugs(now.toReversed(), noted).toReversed()).toEqual(first.map((one) => one.slug));
    }),
  );
});
