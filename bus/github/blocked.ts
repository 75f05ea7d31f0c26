/** Errors of GitHub as conditions, for the owner of the affected object. */

import { redacted } from "../values/redact.ts";
import { BlockedError } from "../worker/errors.ts";
import { GitHubNotAllowedError } from "./allowed.ts";
import { GitHubError, GitHubRateLimitedError, GitHubRefusedError, GitHubUnreachableError } from "./errors.ts";
import type { GitHubUrlError } from "./url.ts";

const minutes = (n: number): number => n * 60_000;

/** The credential of a call: the key of an App, or a token. */
export type Credential = "Key" | "Token";

/** Milliseconds. A user has to change something, and most changes enqueue the object; the retry covers the others. */
export const retryMillis = minutes(5);
/** GitHub recovers without a change. */
const unreachableMillis = 30_000;

const reasons: Readonly<Record<number, string>> = {
  403: "Forbidden",
  404: "NotFound",
  422: "Refused",
};

/** Parts that differ each time. The condition's text must stay the same, or each retry would write it again. */
const requestId =
  /\s*(If you reach out to GitHub Support[^.]*?)?(request id|with the id)\s+[0-9A-F:]+( and timestamp [-0-9: ]+UTC)?\.?/gi;

/**
 * Converts an error of GitHub to a condition. Its reason is `RateLimited`, `GitHubUnreachable`, `KeyRejected` or `TokenRejected`
 * (401), `Forbidden` (403), `NotFound` (404), `Refused` (422), one of `restrictions.ts`, or `GitHubFailed`.
 */
export function blockedBy(error: GitHubError, credential: Credential): BlockedError {
  const message = redacted(error.message.replaceAll(requestId, ""));
  const options = { cause: error };
  if (error instanceof GitHubRateLimitedError)
    return new BlockedError("RateLimited", message, error.retryAfterMillis, options);
  if (error instanceof GitHubUnreachableError)
    return new BlockedError("GitHubUnreachable", message, unreachableMillis, options);
  return new BlockedError(reasonOf(error, credential), message, retryMillis, options);
}

function reasonOf(error: GitHubError, credential: Credential): string {
  if (!(error instanceof GitHubRefusedError)) return "GitHubFailed";
  if (error.status === 401) return `${credential}Rejected`;
  return error.reason ?? reasons[error.status ?? 0] ?? "GitHubFailed";
}

/** The reason of a condition for a rejected address: `UrlInvalid` or `UrlNotAllowed`. */
export const urlReason = (error: GitHubUrlError): string =>
  error instanceof GitHubNotAllowedError ? "UrlNotAllowed" : "UrlInvalid";

/** Makes calls to GitHub and converts its errors to {@link BlockedError}. */
export async function withGitHub<T>(credential: Credential, calls: () => Promise<T>): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    throw error instanceof GitHubError ? blockedBy(error, credential) : error;
  }
}
