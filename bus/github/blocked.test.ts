import { expect, test } from "vitest";
import { BlockedError } from "../worker/errors.ts";
import { blockedBy, retryMillis, withGitHub } from "./blocked.ts";
import { GitHubError, GitHubRateLimitedError, GitHubRefusedError, GitHubUnreachableError } from "./errors.ts";

test.each([
  ["KeyRejected", new GitHubRefusedError("no", 401), retryMillis],
  ["Forbidden", new GitHubRefusedError("no", 403), retryMillis],
  ["NotFound", new GitHubRefusedError("no", 404), retryMillis],
  ["Refused", new GitHubRefusedError("no", 422), retryMillis],
  ["GitHubFailed", new GitHubRefusedError("no", 418), retryMillis],
  ["GitHubFailed", new GitHubError("no", 200), retryMillis],
  ["GitHubUnreachable", new GitHubUnreachableError("no", 502), 30_000],
  ["GitHubUnreachable", new GitHubUnreachableError("no"), 30_000],
  ["RateLimited", new GitHubRateLimitedError("no", 429, 90_000), 90_000],
])("%s: %s", (reason, error, retryAfterMillis) => {
  expect(blockedBy(error, "Key")).toMatchObject({ reason, retryAfterMillis, message: "no", cause: error });
});

test("distinguishes a rejected token from a rejected key", async () => {
  const refused = new GitHubRefusedError("no", 401);
  expect(blockedBy(refused, "Token").reason).toBe("TokenRejected");
  await expect(withGitHub("Token", () => Promise.reject(refused))).rejects.toMatchObject({
    reason: "TokenRejected",
  });
});

test("removes tokens from the message", () => {
  const error = new GitHubError("no");
  error.message = `no token ghs_${"a".repeat(36)} here`;
  expect(blockedBy(error, "Key").message).not.toContain("aaaa");
});

test.each([
  (id: string, time: string) =>
    `API rate limit exceeded for installation ID 7. If you reach out to GitHub Support for help, please include the request ID ${id} and timestamp ${time} UTC.`,
  (id: string) => `Server error with the ID ${id}. Try again later.`,
])("removes IDs and times of single requests, so equal errors have equal messages (%#)", (text) => {
  const once = blockedBy(
    new GitHubError(text("1C45:12F767:6C7E73:D8C627:6814705C", "2025-05-02 07:12:28")),
    "Token",
  );
  const again = blockedBy(
    new GitHubError(text("1C40:33FC8D:C99273:1931EF1:68147060", "2025-05-02 07:12:32")),
    "Token",
  );
  expect(again.message).toBe(once.message);
  expect(once.message).toMatch(/^(API rate limit exceeded for installation ID 7|Server error)/);
});

test("calls: returns results, converts GitHub's errors, and rethrows others unchanged", async () => {
  expect(await withGitHub("Key", async () => 7)).toBe(7);
  const refused = new GitHubRefusedError("no", 404);
  const blocked = await withGitHub("Key", () => Promise.reject(refused)).catch((error: unknown) => error);
  expect(blocked).toBeInstanceOf(BlockedError);
  expect(blocked).toMatchObject({ reason: "NotFound" });
  const other = new Error("something else");
  await expect(withGitHub("Key", () => Promise.reject(other))).rejects.toBe(other);
});
