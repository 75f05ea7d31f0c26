import { expect, test } from "vitest";
import { GitHubError, GitHubRateLimitedError, GitHubRefusedError, GitHubUnreachableError } from "./errors.ts";

test("errors - redact credentials in their messages", () => {
  const message = `found ghs_${"a".repeat(600)} and eyJa.eyJb.c`;
  const errors = [
    new GitHubError(message),
    new GitHubUnreachableError(message, 502),
    new GitHubRefusedError(message, 404),
    new GitHubRateLimitedError(message, 429, 5000),
  ];
  for (const error of errors) {
    expect(error.message).toBe("found *** and ***");
    expect(error.stack).not.toContain("aaaa");
    expect(error).toBeInstanceOf(GitHubError);
    expect(error.name).toBe(error.constructor.name);
  }
});
