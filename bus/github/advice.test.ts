import { expect, test } from "vitest";
import { refusal } from "./responseerror.ts";

const answered = (status: number, request: string, headers: Record<string, string> = {}) =>
  refusal({
    request: `${request} as the token's owner at https://api.github.com`,
    status,
    headers,
    body: { message: "No." },
  }).message;

test("advice - for an expired token, names the Secret and the Installation", () => {
  const message = answered(401, "GET /repos/acme/web/pulls/7", { date: "Thu, 01 Jan 1970 00:00:00 GMT" });
  expect(message).toMatch(/: No\. The token has expired .* Secret.* Installation .* Ready\.$/);
  expect(message).not.toMatch(/key|clock/);
});

test("advice - a missing repository may be one that the token cannot see", () => {
  const message = answered(404, "GET /repos/acme/web");
  expect(message).toMatch(
    /: No\. The repository does not exist, or the token cannot see it: check owner and name/,
  );
  expect(message).toMatch(/`repositories` and `permissions` of the Installation\.$/);
  for (const path of ["branches/a%2Fb", "pulls/7", "issues/comments/7"]) {
    expect(answered(404, `GET /repos/acme/web/${path}`)).toMatch(
      /: No\. The repository has no such object, or does not exist/,
    );
  }
});

test.each([
  ["POST /repos/acme/web/statuses/abc", "`statuses: write`"],
  ["POST /repos/acme/statuses/issues/7/comments", "`pull_requests: write` or `issues: write`"],
  ["PATCH /repos/acme/web/issues/comments/7", "`pull_requests: write` or `issues: write`"],
  ["GET /repos/acme/web/issues/7/comments", "`pull_requests: read` or `issues: read`"],
  ["POST /repos/acme/web/deployments", "`deployments: write`"],
  ["POST /repos/acme/web/deployments/7/statuses", "`deployments: write`"],
  ["GET /repos/acme/pulls/branches/main", "`contents: read`"],
  ["GET /repos/acme/web/pulls", "`pull_requests: read`"],
  ["GET /repos/acme/deployments", "`metadata: read`"],
])("advice - %s needs %s", (request, permissions) => {
  expect(answered(403, request)).toContain(
    `: No. The token needs ${permissions}: check \`permissions\` of the Installation`,
  );
});

test("advice - prefers the permissions that GitHub lists", () => {
  const messageFor = (accepted: string) =>
    answered(403, "GET /repos/acme/web/pulls", { "x-accepted-github-permissions": accepted });
  expect(messageFor("pull_requests=read,contents=read; issues=write")).toContain(
    "needs `pull_requests: read` and `contents: read` or `issues: write`: check",
  );
  expect(messageFor("<b>")).toContain("needs `pull_requests: read`: check");
});

test("advice - for rejected input, does not mention the installation", () => {
  const message = answered(422, "POST /repos/acme/web/statuses/abc");
  expect(message).toMatch(/: No\. GitHub rejected the request: check that its commit/);
  expect(message).not.toContain("nstallation");
  expect(answered(410, "GET /repos/acme/web")).toMatch(/: No\.$/);
});
