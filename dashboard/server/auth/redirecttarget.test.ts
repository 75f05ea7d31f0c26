import fc from "fast-check";
import { expect, test } from "vitest";
import { redirectPath } from "./redirecttarget.ts";

const url = "https://denrei.example.com";

test.each([
  ["/applications/team-a/web?tab=log#end", "/applications/team-a/web?tab=log#end"],
  [`${url}/applications`, "/applications"],
  ["applications", "/applications"],
  ["/search?q=//a", "/search?q=//a"],
  // Without slashes, there is no host: https://url.spec.whatwg.org/#scheme-state
  ["https:evil.example", "/evil.example"],
])("accepts %s as a page", (to, path) => {
  expect(redirectPath(url, to)).toBe(path);
});

test.each([
  undefined,
  "//evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "/\t/evil.example",
  "/.//evil.example",
  "/a/..//evil.example",
  "https://evil.example/",
  "https://denrei.example.com@evil.example/",
  "https://user@denrei.example.com/",
  "https://denrei.example.com.evil.example/",
  "https://denrei.example.com:8443/",
  "http://denrei.example.com/",
  "javascript:alert(1)",
  "data:text/html,x",
  "http://[",
  "/auth/login",
  "/api/session",
  "/./auth/login",
  `/${"a".repeat(1000)}`,
])("rejects %s", (to) => {
  expect(redirectPath(url, to)).toBe("/");
});

const nasty = fc.constantFrom(
  ..."/\\.@:?#%\t\n\r \0".split(""),
  "//",
  "%2f",
  "%5c",
  "..",
  "javascript:",
  "https:",
  "evil.example",
  "denrei.example.com",
  "auth",
  "é",
);

test("no redirect target leaves the dashboard's pages", () => {
  const text = fc.array(fc.oneof(nasty, fc.string({ maxLength: 3 })), { maxLength: 12 });
  fc.assert(
    fc.property(text, (parts) => {
      const path = redirectPath(url, parts.join(""));
      // As a browser resolves `Location`.
      const location = new URL(path, `${url}/auth/callback`);
      expect(location.origin).toBe(url);
      expect(location.username).toBe("");
      expect(path).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/);
      expect(location.pathname).not.toMatch(/^\/(auth|api)(\/|$)/);
    }),
    { numRuns: 5000 },
  );
});
