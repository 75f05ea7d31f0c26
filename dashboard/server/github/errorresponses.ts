/** Error responses for requests to GitHub. */
import { GitHubError, GitHubRateLimitedError, GitHubUnreachableError } from "denrei/github";
import type { Context } from "hono";
import { errorBody } from "../errorbody.ts";

/** The session has no GitHub account, or GitHub rejects its token. */
export const notConnected = errorBody(
  "GitHubNotConnected",
  "No GitHub account is connected, or GitHub no longer accepts the connection. Connect your account.",
);

/** No GitHub App is configured. */
export const notSetUp = errorBody(
  "GitHubNotSetUp",
  "This dashboard has no GitHub App. An operator can set --github-client-id and --github-client-secret.",
);

/** The response to a GitHub error. Rethrows other errors. */
export function errorResponse(c: Context, error: unknown): Response {
  if (!(error instanceof GitHubError)) throw error;
  if (error.status === 401) return c.json(notConnected, 403);
  if (error instanceof GitHubRateLimitedError) {
    c.header("retry-after", String(Math.ceil(error.retryAfterMillis / 1000)));
    return c.json(errorBody("GitHubRateLimited", "GitHub's rate limit is exceeded. Try again later."), 429);
  }
  if (error instanceof GitHubUnreachableError)
    return c.json(errorBody("GitHubUnavailable", "GitHub does not answer. Try again later."), 503);
  if (error.status === 404)
    return c.json(errorBody("NotFound", "GitHub has no such object, or you cannot see it."), 404);
  return c.json(errorBody("GitHubFailed", `GitHub answered with status ${error.status}.`), 502);
}
