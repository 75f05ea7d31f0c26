/** What a page is told when GitHub does not give what is asked for. */
import type { Context } from "hono";
import { GitHubError, GitHubRateLimitedError, GitHubUnreachableError } from "../../../bus/github/errors.ts";
import { refusal } from "../refusal.ts";

/** Nobody has connected this session, or GitHub takes its token no more. */
export const notConnected = refusal(
  "GitHubNotConnected",
  "expected an account at GitHub, found none that GitHub still lets in: connect it",
);

/** The dashboard has no App at GitHub. */
export const notSetUp = refusal(
  "GitHubNotSetUp",
  "expected a dashboard that knows a GitHub, found one without: whoever runs it sets --github-client-id and --github-client-secret",
);

/** The answer to an error of GitHub; others are thrown again. */
export function troubledBy(c: Context, error: unknown): Response {
  if (!(error instanceof GitHubError)) throw error;
  if (error.status === 401) return c.json(notConnected, 403);
  if (error instanceof GitHubRateLimitedError) {
    c.header("retry-after", String(Math.ceil(error.retryAfterMillis / 1000)));
    return c.json(
      refusal(
        "GitHubRateLimited",
        "expected an answer of GitHub, found that it wants no more requests for a while",
      ),
      429,
    );
  }
  if (error instanceof GitHubUnreachableError)
    return c.json(
      refusal("GitHubUnavailable", "expected an answer of GitHub, found none: try again later"),
      503,
    );
  if (error.status === 404)
    return c.json(refusal("NotFound", "expected something that you see at GitHub, found nothing"), 404);
  return c.json(
    refusal("GitHubFailed", `expected what was asked for of GitHub, found the answer ${error.status}`),
    502,
  );
}
