/** What keeps an App or an Installation from being ready, as the object's owner reads it. */
import {
  GitHubError,
  GitHubRateLimitedError,
  GitHubRefusedError,
  GitHubUnreachableError,
} from "../../bus/github/errors.ts";
import { redactTokens } from "../../bus/github/redact.ts";
import { BlockedError } from "../../bus/worker/errors.ts";

const minutes = (n: number): number => n * 60_000;

/** Somebody has to change something, and the change wakes us; the retry is for what we are not told of. */
export const patience = minutes(5);
/** GitHub comes back by itself. */
const unreachableMillis = 30_000;

const reasons: Readonly<Record<number, string>> = {
  401: "KeyRejected",
  403: "Forbidden",
  404: "NotFound",
  422: "Refused",
};

/** What is another one each time: a condition that says the same must be the same text, or each try writes it anew. */
const requestId =
  /\s*(If you reach out to GitHub Support[^.]*?)?(request id|with the id)\s+[0-9A-F:]+( and timestamp [-0-9: ]+UTC)?\.?/gi;

/** A refusal of GitHub as a condition. */
export function blockedBy(error: GitHubError): BlockedError {
  const message = redactTokens(error.message.replaceAll(requestId, ""));
  const options = { cause: error };
  if (error instanceof GitHubRateLimitedError)
    return new BlockedError("RateLimited", message, error.retryAfterMillis, options);
  if (error instanceof GitHubUnreachableError)
    return new BlockedError("GitHubUnreachable", message, unreachableMillis, options);
  const reason = error instanceof GitHubRefusedError ? reasons[error.status ?? 0] : undefined;
  return new BlockedError(reason ?? "GitHubFailed", message, patience, options);
}

/** Runs calls of GitHub; what it refuses becomes a {@link BlockedError}. */
export async function withGitHub<T>(calls: () => Promise<T>): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    throw error instanceof GitHubError ? blockedBy(error) : error;
  }
}
