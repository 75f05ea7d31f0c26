/** What GitHub refuses, as the owner of the object that wants it reads it. */

import { redacted } from "../values/redact.ts";
import { BlockedError } from "../worker/errors.ts";
import { GitHubNotAllowedError } from "./allowed.ts";
import { GitHubError, GitHubRateLimitedError, GitHubRefusedError, GitHubUnreachableError } from "./errors.ts";
import type { GitHubUrlError } from "./url.ts";

const minutes = (n: number): number => n * 60_000;

/** What GitHub is asked with: the key of an App, or a token. */
export type Credential = "Key" | "Token";

/** Milliseconds. Somebody has to change something, and the change wakes us; the retry is for what we are not told of. */
export const patience = minutes(5);
/** GitHub comes back by itself. */
const unreachableMillis = 30_000;

const reasons: Readonly<Record<number, string>> = {
  403: "Forbidden",
  404: "NotFound",
  422: "Refused",
};

/** What is another one each time: a condition that says the same must be the same text, or each try writes it anew. */
const requestId =
  /\s*(If you reach out to GitHub Support[^.]*?)?(request id|with the id)\s+[0-9A-F:]+( and timestamp [-0-9: ]+UTC)?\.?/gi;

/**
 * A refusal of GitHub as a condition, whose reason is `RateLimited`, `GitHubUnreachable`, `KeyRejected` or `TokenRejected`
 * (401), `Forbidden` (403), `NotFound` (404), `Refused` (422), one of `restrictions.ts`, or `GitHubFailed`.
 */
export function blockedBy(error: GitHubError, credential: Credential): BlockedError {
  const message = redacted(error.message.replaceAll(requestId, ""));
  const options = { cause: error };
  if (error instanceof GitHubRateLimitedError)
    return new BlockedError("RateLimited", message, error.retryAfterMillis, options);
  if (error instanceof GitHubUnreachableError)
    return new BlockedError("GitHubUnreachable", message, unreachableMillis, options);
  return new BlockedError(reasonOf(error, credential), message, patience, options);
}

function reasonOf(error: GitHubError, credential: Credential): string {
  if (!(error instanceof GitHubRefusedError)) return "GitHubFailed";
  if (error.status === 401) return `${credential}Rejected`;
  return error.reason ?? reasons[error.status ?? 0] ?? "GitHubFailed";
}

/** The reason of a condition for an address that no client is opened for: `UrlInvalid`, or `UrlNotAllowed`. */
export const urlReason = (error: GitHubUrlError): string =>
  error instanceof GitHubNotAllowedError ? "UrlNotAllowed" : "UrlInvalid";

/** Runs calls of GitHub; what it refuses becomes a {@link BlockedError}. */
export async function withGitHub<T>(credential: Credential, calls: () => Promise<T>): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    throw error instanceof GitHubError ? blockedBy(error, credential) : error;
  }
}
