import { expect, test } from "vitest";
import { refusal } from "./responseerror.ts";

const answered = (status: number, request: string, headers: Record<string, string> = {}) =>
  refusal({
    request: `${request} as whoever has the token at https://api.github.com`,
    status,
    headers,
    body: { message: "No." },
  }).message;

test("advice - for an expired token, names the Secret and the Installation", () => {
  const told = answered(401, "GET /repos/acme/web/pulls/7", { date: "Thu, 01 Jan 1970 00:00:00 GMT" });
  expect(told).toMatch(/: No\. The token is over .* Secret .* Installation .* Ready\.$/);
  expect(told).not.toMatch(/key|clock/);
});

test("advice - a missing repository may be one that the token cannot see", () => {
  const told = answered(404, "GET /repos/acme/web");
  expect(told).toMatch(
    /: No\. There is no such repository, or the token may not see it: check owner and name/,
  );
  expect(told).toMatch(/`repositories` and `permissions` of the Installation\.$/);
  for (const path of ["branches/a%2Fb", "pulls/7", "issues/comments/7"]) {
    expect(answered(404, `GET /repos/acme/web/${path}`)).toMatch(
      /: No\. There is no such thing in the repository, or no such repository/,
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
  const told = (accepted: string) =>
    answered(403, "GET /repos/acme/web/pulls", { "x-accepted-github-permissions": accepted });
  expect(told("pull_requests=read,contents=read; issues=write")).toContain(
    "needs `pull_requests: read` and `contents: read` or `issues: write`: check",
  );
  expect(told("<b>")).toContain("needs `pull_requests: read`: check");
});

test("advice - for rejected input, does not mention the installation", () => {
  const told = answered(422, "POST /repos/acme/web/statuses/abc");
  expect(told).toMatch(/: No\. GitHub does not take what was sent: check that the commit/);
  expect(told).not.toContain("nstallation");
  expect(answered(410, "GET /repos/acme/web")).toMatch(/: No\.$/);
});
