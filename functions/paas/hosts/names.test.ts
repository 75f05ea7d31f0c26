import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalHost, claimName, coversHost, isHost, wildcardsOver } from "./names.ts";

test.each([
  ["Web.Example.COM", "web.example.com"],
  ["web.example.com.", "web.example.com"],
  ["web.example.com:8443", "web.example.com"],
  ["web.example.com.:443", "web.example.com"],
  [" web.example.com ", "web.example.com"],
  ["*.Example.com", "*.example.com"],
  ["bücher.example.com", "xn--bcher-kva.example.com"],
  ["BÜCHER.example.com", "xn--bcher-kva.example.com"],
  ["web。example。com", "web.example.com"],
  ["", "*"],
])("normalizes %s to %s", (text, host) => {
  expect(canonicalHost(text)).toBe(host);
});

test.each(["~^.*$", "a b", "*.*.example.com", "web..example.com", "*example.com"])(
  "does not change %s, which is not a host",
  (text) => {
    expect(canonicalHost(text)).toBe(text);
    expect(isHost(canonicalHost(text))).toBe(false);
  },
);

test("covers a host by the wildcard of each domain above it", () => {
  expect(wildcardsOver("a.b.example.com")).toEqual(["*.b.example.com", "*.example.com", "*.com", "*"]);
  expect(wildcardsOver("com")).toEqual(["*"]);
});

test("covers a wildcard by wider ones, but not by the same one", () => {
  expect(wildcardsOver("*.b.example.com")).toEqual(["*.example.com", "*.com", "*"]);
  expect(wildcardsOver("*.com")).toEqual(["*"]);
  expect(wildcardsOver("*")).toEqual([]);
});

test.each([
  ["a.example.com", "a.example.com", true],
  ["*.example.com", "a.example.com", true],
  ["*.example.com", "b.a.example.com", true],
  ["*.example.com", "*.example.com", true],
  ["*.example.com", "*.a.example.com", true],
  ["*", "a.example.com", true],
  ["*", "*", true],
  ["*.example.com", "example.com", false],
  ["*.example.com", "example.com.evil.net", false],
  ["*.example.com", "aexample.com", false],
  ["a.example.com", "*.example.com", false],
  ["*.a.example.com", "*.example.com", false],
  ["*.example.com", "*", false],
])("matches %s against %s: %s", (pattern, host, covers) => {
  expect(coversHost(pattern, host)).toBe(covers);
});

const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);
const host = fc
  .tuple(fc.constantFrom("", "*."), fc.array(label, { minLength: 1, maxLength: 12 }))
  .map(([wildcard, labels]) => `${wildcard}${labels.join(".")}`);

test("gives each host its own claim, with a valid object name", () => {
  const hosts = fc.oneof(host, fc.constantFrom("*", "any", "wildcard.example.com", "*.example.com"));
  fc.assert(
    fc.property(hosts, hosts, (a, b) => {
      expect(claimName(a)).toMatch(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
      expect(claimName(a).length).toBeLessThanOrEqual(253);
      expect(claimName(a) === claimName(b)).toBe(a === b);
    }),
  );
});
