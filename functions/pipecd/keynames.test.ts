import fc from "fast-check";
import { expect, test } from "vitest";
import { keyOfProject } from "./keynames.ts";

/** https://github.com/kubernetes/apimachinery/blob/master/pkg/util/validation/validation.go (IsConfigMapKey) */
const isKey = (text: string): boolean =>
  /^[-._a-zA-Z0-9]{1,253}$/.test(text) && text !== "." && !text.startsWith("..");

test.each(["quickstart", "a", "team_a.web-1", ".hidden", "A".repeat(100)])(
  "uses the project id %s as the key",
  (project) => {
    expect(keyOfProject(project)).toBe(project);
  },
);

test.each([".", "..", "..a", "プロジェクト", "a/b", "a b", "a\n", "", "A".repeat(300)])(
  "replaces the project id %j, which is not a valid key, with a digest",
  (project) => {
    expect(keyOfProject(project)).toMatch(/^sha256-[0-9a-f]{16}$/);
  },
);

test("never uses the digest of one id as the key of another", () => {
  expect(keyOfProject(keyOfProject("a/b"))).not.toBe(keyOfProject("a/b"));
});

test("gives each project a unique and valid Secret key", () => {
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
