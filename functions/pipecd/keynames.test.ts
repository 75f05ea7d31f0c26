import fc from "fast-check";
import { expect, test } from "vitest";
import { keyOfProject } from "./keynames.ts";

/** https://github.com/kubernetes/apimachinery/blob/master/pkg/util/validation/validation.go (IsConfigMapKey) */
const isKey = (text: string): boolean =>
  /^[-._a-zA-Z0-9]{1,253}$/.test(text) && text !== "." && !text.startsWith("..");

test.each(["quickstart", "a", "team_a.web-1", ".hidden", "A".repeat(100)])(
  "the key of the project %s is its id",
  (project) => {
    expect(keyOfProject(project)).toBe(project);
  },
);

test.each([".", "..", "..a", "プロジェクト", "a/b", "a b", "a\n", "", "A".repeat(300)])(
  "the id %j can be no key, so one stands for it",
  (project) => {
    expect(keyOfProject(project)).toMatch(/^sha256-[0-9a-f]{16}$/);
  },
);

test("no id is that which stands for another one", () => {
  expect(keyOfProject(keyOfProject("a/b"))).not.toBe(keyOfProject("a/b"));
});

test("each project has a key of its own that a Secret can have", () => {
  const project = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 100 }),
    fc.stringMatching(/^[-._a-z]{1,5}$/),
  );
  fc.assert(
    fc.property(project, project, (one, other) => {
      expect(isKey(keyOfProject(one))).toBe(true);
      expect(keyOfProject(one) === keyOfProject(other)).toBe(one === other);
    }),
    { numRuns: 1_000 },
  );
});
