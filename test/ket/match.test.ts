import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { differences, matches, mistakes } from "./match.ts";

/** Values without operators, as YAML parses them. */
const value = fc.jsonValue({ maxDepth: 3 }).filter((one) => !JSON.stringify(one).includes('"$'));
const dictionary = fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), value, { minKeys: 1 });

/** Drops fields and elements, and shuffles the remaining elements. */
function partOf(whole: unknown, choose: () => boolean): unknown {
  if (Array.isArray(whole)) {
    const left = whole.filter(() => choose()).map((one) => partOf(one, choose));
    return whole.length > 0 && left.length === 0 ? [whole[0]] : left.reverse();
  }
  if (typeof whole !== "object" || whole === null) return whole;
  const left = Object.entries(whole).filter(() => choose());
  return Object.fromEntries(left.map(([field, one]) => [field, partOf(one, choose)]));
}

test("a value matches itself", () => {
  fc.assert(
    fc.property(value, (one) => {
      expect(differences(one, structuredClone(one))).toEqual([]);
    }),
  );
});

test("ignores inherited fields", () => {
  const named = JSON.parse('{"toString":1,"constructor":{},"__proto__":[1]}');
  expect(differences(named, {})).toHaveLength(3);
  expect(differences({ toString: null, constructor: { $absent: true } }, {})).toEqual([]);
});

test("a part of a value matches it, whatever is missing and however lists are ordered", () => {
  fc.assert(
    fc.property(value, fc.infiniteStream(fc.boolean()), (whole, choices) => {
      const part = partOf(whole, () => choices.next().value === true);
      expect(differences(part, whole)).toEqual([]);
    }),
  );
});

test("names a missing or different field with both values", () => {
  fc.assert(
    fc.property(dictionary, fc.stringMatching(/^[A-Z]{2}$/), fc.integer(), (whole, field, other) => {
      expect(differences({ ...whole, [field]: other }, whole)).toEqual([
        `.${field}: expected ${other}, found nothing`,
      ]);
      expect(differences({ [field]: other }, { ...whole, [field]: other + 1 })).toEqual([
        `.${field}: expected ${other}, found ${other + 1}`,
      ]);
    }),
  );
});

test("assigns each expected element a different one, and as many as possible", () => {
  const element = fc.record({ a: fc.nat(1), b: fc.nat(1) }, { requiredKeys: [] });
  /** Tries every assignment. */
  const possible = (expected: readonly unknown[], found: readonly unknown[]): boolean => {
    const [first, ...rest] = expected;
    return (
      expected.length === 0 ||
      found.some((one, at) => matches(first, one) && possible(rest, found.toSpliced(at, 1)))
    );
  };
  fc.assert(
    fc.property(
      fc.array(element, { minLength: 1, maxLength: 4 }),
      fc.array(element, { maxLength: 4 }),
      (expected, found) => {
        expect(matches(expected, found)).toBe(possible(expected, found));
      },
    ),
    { numRuns: 500 },
  );
});

describe("differences:", () => {
  test.each<[expected: unknown, found: unknown, differences: readonly string[]]>([
    [null, undefined, []],
    [null, null, []],
    [{ a: null }, { a: 1 }, [".a: expected nothing, found 1"]],
    [[], undefined, []],
    [[], [1], [": expected no elements, found [1]"]],
    [[1, 1], [1], ["[1]: expected an element of its own like 1, found [1]"]],
    [[{}, { a: 1 }], [{ a: 1 }, { b: 1 }], []],
    ["1", 1, ['.: expected "1", found 1']],
    [{ a: { b: 1 } }, undefined, [".a.b: expected 1, found nothing"]],
    [{ a: { b: 1 } }, { a: "b" }, ['.a: expected an object, found "b"']],
    [{}, undefined, [".: expected an object, found nothing"]],
    [{ a: { $absent: true } }, {}, []],
    [{ a: { $absent: true } }, { a: null }, [".a: expected nothing, found null"]],
    [{ $exactly: { a: [1] } }, { a: [1] }, []],
    [{ $exactly: { a: [1] } }, { a: [1], b: 2 }, ['.: expected exactly {"a":[1]}, found {"a":[1],"b":2}']],
    [{ $matches: "^b$" }, "abc", ['.: expected text that matches /^b$/, found "abc"']],
    [{ $matches: "b" }, "abc", []],
    [{ $matches: "1" }, 1, [".: expected text that matches /1/, found 1"]],
    [
      [{ type: "Ready", status: "True" }],
      [{ type: "Stalled" }, { type: "Ready", status: "False" }],
      ['[type=Ready].status: expected "True", found "False"'],
    ],
  ])("%j, %j", (expected, found, wanted) => {
    expect(differences(expected, found)).toEqual(wanted);
  });
});

describe("rejects a meaningless expectation:", () => {
  test.each<[expected: unknown, mistake: string | undefined]>([
    [{ a: { $absent: false } }, ".a: expected $absent: true, found false"],
    [{ a: [{ $matches: "(" }] }, ".a[0]: expected a regular expression after $matches"],
    [
      { a: { $gone: true } },
      ".a: expected one of $absent, $exactly, $matches, alone in its place, found $gone",
    ],
    [{ a: { $absent: true, b: 1 } }, "alone in its place, found $absent"],
    [{ a: { $exactly: { $gone: true } } }, undefined],
  ])("%j", (expected, mistake) => {
    const found = mistakes(expected);
    if (mistake === undefined) expect(found).toEqual([]);
    else expect(found).toEqual([expect.stringContaining(mistake)]);
  });
});
