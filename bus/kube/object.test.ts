import fc from "fast-check";
import { expect, test } from "vitest";
import { compareVersions, isVersion } from "./object.ts";

test("versions - are ordered as numbers of any length", () => {
  const version = fc.bigInt({ min: 0n, max: 2n ** 80n });
  fc.assert(
    fc.property(version, version, (a, b) => {
      expect(Math.sign(compareVersions(String(a), String(b)))).toBe(a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});

test.each([
  ["0", true],
  ["10", true],
  ["010", false],
  ["", false],
  ["1a", false],
  [undefined, false],
] as const)("versions - %j is one: %s", (text, is) => {
  expect(isVersion(text)).toBe(is);
});
