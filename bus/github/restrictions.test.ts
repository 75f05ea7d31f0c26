import { expect, test } from "vitest";
import { blockedBy } from "./blocked.ts";
import { GitHubRateLimitedError } from "./errors.ts";
import { refusal } from "./responseerror.ts";

const answered = (status: number, message: string, request = "POST /repos/acme/web/issues/7/comments") =>
  refusal({
    request: `${request} as the token's owner at https://api.github.com`,
    status,
    headers: { "x-accepted-github-permissions": "issues=write; pull_requests=write" },
    body: { message },
  });
const tooLong = "Validation Failed; body is too long (maximum is 65536 characters)";
const most = "This SHA and context has reached the maximum number of statuses.";

test.each([
  [
    403,
    "Unable to create comment because issue is locked.",
    "ConversationLocked",
    "unlock it, or turn comments off",
  ],
  [403, "Unable to update comment because issue is locked.", "ConversationLocked", "unlock it"],
  [422, "Unable to create comment because issue is locked.", "ConversationLocked", "unlock it"],
  [403, "Repository was archived so is read-only.", "RepositoryArchived", "unarchive it"],
  [
    403,
    "Repository was archived so is read-only and unable to create comment because issue is locked",
    "RepositoryArchived",
    "unarchive it",
  ],
  [410, "Issues are disabled for this repo", "IssuesDisabled", "enable them, or turn comments off"],
  [410, "Issues has been disabled in this repository.", "IssuesDisabled", "enable them"],
  [403, "User is blocked", "UserBlocked", "have it unblocked"],
  [422, "Validation Failed; user is blocked", "UserBlocked", "have it unblocked"],
  [
    403,
    "An owner of this repository has limited the ability to comment to users that are collaborators on this repository.",
    "InteractionsLimited",
    "end the limit",
  ],
  [422, tooLong, "TooLong", "shorten"],
  [422, most, "TooManyStatuses", "push another commit"],
  [403, "This installation has been suspended", "InstallationSuspended", "unsuspend it"],
  [
    403,
    "Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.",
    "AddressNotAllowed",
    "outgoing address",
  ],
  [403, "Repository access blocked", "RepositoryBlocked", "GitHub Support"],
  [451, "Repository access blocked", "RepositoryBlocked", "GitHub Support"],
])("%i %s is %s", (status, message, reason, advice) => {
  const error = answered(status, message);
  const blocked = blockedBy(error, "Token");
  expect(blocked.reason).toBe(reason);
  expect(blocked.message).toContain(message.replace(/\.$/, ""));
  expect(blocked.message).toContain(advice);
  expect(blocked.message).not.toContain("permissions");
});

test("a 403 without further information is about missing permissions, for any request", () => {
  for (const path of ["acme/locked", "acme/archived", "acme/is-too-long"]) {
    const error = answered(
      403,
      "Resource not accessible by integration",
      `POST /repos/${path}/issues/7/comments`,
    );
    expect(blockedBy(error, "Token").reason).toBe("Forbidden");
    expect(error.message).toContain("The token needs `issues: write` or `pull_requests: write`");
  }
});

test("an error about an App is not about a repository", () => {
  const error = answered(
    403,
    "This installation has been suspended",
    "POST /app/installations/7/access_tokens",
  );
  expect(blockedBy(error, "Key").reason).toBe("Forbidden");
});

test.each([
  [403, "You have exceeded a secondary rate limit and have been temporarily blocked from content creation."],
  [403, "You have been temporarily blocked from content creation."],
  [422, "Validation Failed; was submitted too quickly"],
])("%i %s is a rate limit, and not a blocked user", (status, message) => {
  expect(answered(status, message)).toBeInstanceOf(GitHubRateLimitedError);
});
