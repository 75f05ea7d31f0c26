import { expect, test } from "vitest";
import { GitHubError, GitHubRateLimitedError, GitHubRefusedError, GitHubUnreachableError } from "./errors.ts";
import { refusal } from "./responseerror.ts";

const date = new Date().toUTCString();
const now = Date.parse(date) / 1000;
const answered = (
  status: number,
  headers: Record<string, string> = {},
  body: unknown = { message: "No." },
  path = "/app",
) => refusal({ request: `GET ${path} as App 5`, status, headers: { date, ...headers }, body });

/** Status, headers, message, and how long to wait in milliseconds. */
const limited: [number, Record<string, string>, string, number][] = [
  [403, { "retry-after": "90" }, "You have exceeded a secondary rate limit.", 90_000],
  [429, { "retry-after": "7" }, "Slow down.", 7000],
  [403, { "retry-after": new Date((now + 42) * 1000).toUTCString() }, "No.", 42_000],
  [403, { "retry-after": "soon" }, "No.", 60_000],
  [
    403,
    { "retry-after": "5", "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${now + 900}` },
    "No.",
    5000,
  ],
  [
    403,
    { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${now + 900}` },
    "API rate limit exceeded",
    900_000,
  ],
  [429, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${now + 30}` }, "No.", 30_000],
  [403, { "x-ratelimit-remaining": "17" }, "You have exceeded a secondary rate limit.", 60_000],
  [403, {}, "You have triggered an abuse detection mechanism.", 60_000],
  [429, {}, "No.", 60_000],
  // A reset in the past, and implausible waits.
  [403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${now - 3600}` }, "No.", 1000],
  [429, { "retry-after": "0" }, "No.", 1000],
  [429, { "retry-after": "86400000" }, "No.", 3_600_000],
  [403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${now * 1000}` }, "No.", 3_600_000],
];

test.each(limited)(
  "refusal - %i with %o (%s) is a rate limit of %i ms",
  (status, headers, message, millis) => {
    const error = answered(status, headers, { message });
    expect(error).toBeInstanceOf(GitHubRateLimitedError);
    expect(error).toMatchObject({ name: "GitHubRateLimitedError", status, retryAfterMillis: millis });
    expect(error.message).toMatch(
      new RegExp(`^GET /app as App 5 was answered ${status}: .* Wait for the limit`),
    );
  },
);

test("refusal - computes the time of a reset from GitHub's clock", () => {
  const late = { date: new Date((now - 7200) * 1000).toUTCString() };
  const error = answered(403, {
    ...late,
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": `${now - 7200 + 60}`,
  });
  expect(error).toMatchObject({ retryAfterMillis: 60_000 });
});

test("refusal - a 403 without a sign of a limit is not a rate limit", () => {
  for (const headers of [{}, { "x-ratelimit-remaining": "4999", "x-ratelimit-reset": `${now + 9}` }]) {
    const error = answered(403, headers, { message: "Resource not accessible by integration" });
    expect(error).toBeInstanceOf(GitHubRefusedError);
    expect(error.message).toMatch(
      /was answered 403: Resource not accessible by integration\. Check that the App has/,
    );
  }
});

test("refusal - 5xx is temporary", () => {
  for (const status of [500, 502, 503, 504]) {
    const error = answered(status, { "retry-after": "3" }, "<html>\n<b>Unicorn!</b>");
    expect(error).toBeInstanceOf(GitHubUnreachableError);
    expect(error).toMatchObject({ name: "GitHubUnreachableError", status });
    expect(error.message).toContain(`was answered ${status}: no message. Try again later.`);
  }
});

/** Status, path, and the advice. */
const advised: [number, string, RegExp][] = [
  [401, "/app", /private key belongs to this App: .*fingerprints.*that the clock here is right\. See/],
  [404, "/app", /GitHub has no App with this ID/],
  [404, "/app/installations/7", /not installed there .* another App: check appID and installationID/],
  [404, "/app/hook/deliveries/7/attempts", /a few days only/],
  [422, "/app/installations/7/access_tokens", /request fewer, or have its owner grant them/],
  [410, "/app", /answered 410: No\. See/],
];

test.each(advised)("refusal - %i of %s has GitHub's message and advice", (status, path, advice) => {
  const body = { message: "No.", documentation_url: "https://docs.github.com/rest" };
  const error = answered(status, {}, body, path);
  expect(error).toBeInstanceOf(GitHubRefusedError);
  expect(error).toBeInstanceOf(GitHubError);
  expect(error).toMatchObject({
    name: "GitHubRefusedError",
    status,
    documentationUrl: "https://docs.github.com/rest",
  });
  expect(error.message).toMatch(/: No\. .*See https:\/\/docs\.github\.com\/rest$/);
  expect(error.message).toMatch(advice);
});

test("refusal - 401 reports a wrong clock", () => {
  const at = (seconds: number) =>
    answered(401, { date: new Date(Date.now() + seconds * 1000).toUTCString() }).message;
  expect(at(-590)).toContain("and set the clock here, which is about 10 min ahead of GitHub's.");
  expect(at(590)).toContain("and set the clock here, which is about 10 min behind GitHub's.");
  expect(at(2)).toMatch(/and that the clock here is right\./);
});

test("refusal - reports the details of 422", () => {
  const errors = ["There is at least one repository", { resource: "Permissions", code: "invalid" }];
  expect(answered(422, {}, { message: "Validation Failed", errors }).message).toContain(
    'Validation Failed; There is at least one repository; {"resource":"Permissions","code":"invalid"}. The installation',
  );
});

test("refusal - the message contains no credential and no long text", () => {
  const secrets = [`ghs_${"a".repeat(600)}`, `eyJ${"b".repeat(300)}.${"c".repeat(300)}.d`];
  for (const secret of secrets) {
    const { message } = answered(401, {}, { message: `bad ${secret}`, errors: [{ value: secret }] });
    expect(message).toContain("bad ***");
    expect(message).not.toMatch(/aaaa|bbbb|cccc/);
  }
  expect(answered(404, {}, "x".repeat(10_000)).message.length).toBeLessThan(800);
  expect(answered(404, {}, new ArrayBuffer(3)).message).toContain("was answered 404: no message.");
  expect(answered(404, {}, "").message).toContain("was answered 404: no message.");
});
