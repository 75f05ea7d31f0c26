import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchesGlob } from "./glob.ts";

describe("globs", () => {
  test.each([
    ["acme/web", "acme/web", true],
    ["acme/web", "acme/website", false],
    ["acme/web", "xacme/web", false],
    ["Acme/WEB", "aCME/web", true],
    ["acme/*", "acme/web", true],
    ["acme/*", "acme/web/evil", false],
    ["acme/*", "acme/", true],
    ["acme/*", "acme", false],
    ["acme*", "acme/web", false],
    ["*", "acme/web", false],
    ["*/*", "acme/web", true],
    ["*/web", "acme/web", true],
    ["acme/w*b", "acme/wb", true],
    ["acme/w*b", "acme/wbb", true],
    ["acme/ab*ba", "acme/aba", false],
    ["acme/*a*a", "acme/a", false],
    ["acme/*x*", "acme/web", false],
    ["acme/*ab*ab*", "acme/ab", false],
    ["acme/*ab*ab*", "acme/abab", true],
    ["acme/**", "acme/web", true],
    ["a.me/web", "acme/web", false],
    ["acme/(web|api)", "acme/web", false],
    ["acme/[a-z]+", "acme/web", false],
    ["acme/web", "acme/web\nother/web", false],
    ["acme/*", "acme/web\nother/web", false],
    ["", "acme/web", false],
  ])("%j and %j: %s", (glob, text, matches) => {
    expect(matchesGlob(glob, text)).toBe(matches);
  });

  const letters = fc.constantFrom(..."aAb/.+?^$", ..."{}()|[]\\-");
  const text = fc.string({ unit: letters, maxLength: 8 });

  test("a glob without a star matches only the same text, in any case", () => {
    fc.assert(
      fc.property(text, text, (glob, other) => {
        expect(matchesGlob(glob, glob.toUpperCase())).toBe(true);
        expect(matchesGlob(glob, other)).toBe(glob.toLowerCase() === other.toLowerCase());
      }),
    );
  });

  test("a star matches any characters except a slash", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), text, (parts, end) => {
        const glob = `${parts.map(([kept]) => `${kept}*`).join("")}${end}`;
        const filled = `${parts.map(([kept, star]) => kept + star).join("")}${end}`;
        expect(matchesGlob(glob, filled)).toBe(!parts.some(([, star]) => star.includes("/")));
      }),
    );
  });

  // A regular expression would take practically forever for these stars.
  test("many stars do not slow a match down", { timeout: 5000 }, () => {
    expect(matchesGlob(`acme/${"*a".repeat(7)}b`, `acme/${"a".repeat(70)}`)).toBe(false);
    expect(matchesGlob(`acme/${"*a".repeat(7)}`, `acme/${"a".repeat(70)}`)).toBe(true);
  });
});
