import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { areas, chosen } from "./areas.ts";
import { type Mutation, mutated, StaleMutationError } from "./mutation.ts";
import { root } from "./scratch.ts";

const all = areas.flatMap(({ mutations }) => mutations);
const names = all.map(({ name }) => name);

test.each(all.map((mutation) => [mutation.name, mutation] as const))(
  "%s breaks exactly one place of an existing file",
  (_, mutation) => {
    const text = readFileSync(join(root, mutation.file), "utf8");
    expect(mutated(text, mutation)).not.toBe(text);
    expect(mutation.breaks).toMatch(/\.$/);
  },
);

test("every mutation names test files that exist, and no file twice", () => {
  for (const { name, tests } of all) {
    expect([name, new Set(tests).size, tests.length > 0]).toEqual([name, tests.length, true]);
    const missing = tests.filter((file) => !file.endsWith(".test.ts") || !existsSync(join(root, file)));
    expect([name, missing]).toEqual([name, []]);
  }
});

test("names are unique", () => {
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

describe("a choice", () => {
  test("of an area contains its mutations", () => {
    expect(chosen({ only: ["queue"] }).map(({ name }) => name)).toEqual(["queue"]);
  });

  test("of a name contains that mutation, unless it is in another area", () => {
    const [first] = chosen({ only: ["bridge"] })[0]?.mutations ?? [];
    expect(chosen({ name: first?.name })).toMatchObject([{ name: "bridge", mutations: [first] }]);
    expect(chosen({ name: first?.name, only: ["queue"] })).toEqual([]);
  });
});

describe("rejects a stale mutation:", () => {
  const mutation: Mutation = {
    name: "inverted",
    file: "bus/some.ts",
    find: "a < b",
    replace: "a > b",
    breaks: "Nothing works.",
    tests: [],
  };

  test.each([
    ["its text is missing", "if (a <= b) c();", {}, "found it 0 times"],
    ["its text occurs twice", "if (a < b || a < b) c();", {}, "found it 2 times"],
    ["it changes nothing", "if (a < b) c();", { replace: "a < b" }, "changes nothing"],
    ["the file does not parse afterwards", "if (a < b) c();", { replace: "a <" }, "breaks the syntax"],
  ])("%s", (_, text, change, says) => {
    const apply = () => mutated(text, { ...mutation, ...change });
    expect(apply).toThrow(StaleMutationError);
    expect(apply).toThrow(says);
  });

  test("applies a current one literally", () => {
    expect(mutated("if (a < b) c();", { ...mutation, replace: '"$&" in b' })).toBe('if ("$&" in b) c();');
  });
});
