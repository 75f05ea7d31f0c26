import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LabelSelector, matchesGlob, selects } from "./matching.ts";

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

  test("one without a star matches itself in any case, and nothing else", () => {
    fc.assert(
      fc.property(text, text, (glob, other) => {
        expect(matchesGlob(glob, glob.toUpperCase())).toBe(true);
        expect(matchesGlob(glob, other)).toBe(glob.toLowerCase() === other.toLowerCase());
      }),
    );
  });

  test("a star stands for any letters but a slash", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), text, (parts, end) => {
        const glob = `${parts.map(([kept]) => `${kept}*`).join("")}${end}`;
        const filled = `${parts.map(([kept, star]) => kept + star).join("")}${end}`;
        expect(matchesGlob(glob, filled)).toBe(!parts.some(([, star]) => star.includes("/")));
      }),
    );
  });

  // With a regular expression these stars take longer than anybody waits.
  test("one of many stars is no slower than any other", { timeout: 5000 }, () => {
    expect(matchesGlob(`acme/${"*a".repeat(7)}b`, `acme/${"a".repeat(70)}`)).toBe(false);
    expect(matchesGlob(`acme/${"*a".repeat(7)}`, `acme/${"a".repeat(70)}`)).toBe(true);
  });
});

describe("label selectors", () => {
  const at = (operator: string, values?: string[]): LabelSelector =>
    ({ matchExpressions: [{ key: "env", operator, ...(values && { values }) }] }) as LabelSelector;
  test.each([
    ["In", ["prod", "dev"], { prod: true, test: false, absent: false }],
    ["NotIn", ["prod", "dev"], { prod: false, test: true, absent: true }],
    ["Exists", undefined, { prod: true, test: true, absent: false }],
    ["DoesNotExist", undefined, { prod: false, test: false, absent: true }],
    ["Resembles", ["prod"], { prod: false, test: false, absent: false }],
  ])("%s %j", (operator, values, wanted) => {
    const selector = at(operator, values);
    expect({
      prod: selects(selector, { env: "prod" }),
      test: selects(selector, { env: "test" }),
      absent: selects(selector, { team: "a" }),
    }).toEqual(wanted);
  });

  test("an empty one asks for nothing", () => {
    for (const empty of [{}, { matchLabels: {} }, { matchExpressions: [] }])
      for (const labels of [{}, { team: "a" }]) expect(selects(empty, labels)).toBe(true);
  });

  test("everything in it has to hold, and labels are told apart by case", () => {
    const selector: LabelSelector = { matchLabels: { team: "a" }, ...at("In", ["prod"]) };
    expect(selects(selector, { team: "a", env: "prod", other: "x" })).toBe(true);
    expect(selects(selector, { team: "b", env: "prod" })).toBe(false);
    expect(selects(selector, { team: "a", env: "dev" })).toBe(false);
    expect(selects(selector, { team: "a", env: "Prod" })).toBe(false);
    expect(selects(selector, { env: "prod" })).toBe(false);
  });

  test("what every object of JavaScript has is no label", () => {
    const exists: LabelSelector = { matchExpressions: [{ key: "constructor", operator: "Exists" }] };
    const absent: LabelSelector = { matchExpressions: [{ key: "toString", operator: "DoesNotExist" }] };
    expect([selects(exists, {}), selects(absent, {})]).toEqual([false, true]);
    expect([selects(exists, { constructor: "x" }), selects(absent, { toString: "x" } as never)]).toEqual([
      true,
      false,
    ]);
  });
});
