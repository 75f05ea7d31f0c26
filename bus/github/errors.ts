/** Errors of calls to GitHub. */
import { redacted } from "../values/redact.ts";

/**
 * A call to GitHub failed. This class itself means an unexpected response. Messages never contain a token, a JWT, or a key.
 */
export class GitHubError extends Error {
  override readonly name: string = "GitHubError";
  /** The HTTP status code; undefined without a response. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(redacted(message), options);
    this.status = status;
  }
}

/** Limits of a wait: a wrong clock or header must not cause an immediate retry, or a pause of days. */
const shortestWaitMillis = 1000;
/** The window of GitHub's primary limits. */
export const longestWaitMillis = 3_600_000;

/** GitHub asks for a pause in all calls of the same App or installation. */
export class GitHubRateLimitedError extends GitHubError {
  override readonly name = "GitHubRateLimitedError";
  /** Time until the next attempt: from one second to one hour, in milliseconds. */
  readonly retryAfterMillis: number;

  constructor(message: string, status: number, retryAfterMillis: number) {
    super(message, status);
    this.retryAfterMillis = Math.min(longestWaitMillis, Math.max(shortestWaitMillis, retryAfterMillis));
  }
}

/** No response, or a temporary error (5xx). */
export class GitHubUnreachableError extends GitHubError {
  override readonly name = "GitHubUnreachableError";
}

/** GitHub rejected the call. A retry helps only after a change. */
export class GitHubRefusedError extends GitHubError {
  override readonly name = "GitHubRefusedError";
  /** GitHub's page about the error. */
  readonly documentationUrl: string | undefined;
  /** A more specific reason than the status code, such as `ConversationLocked` (`restrictions.ts`). */
  readonly reason: string | undefined;

  constructor(message: string, status: number, documentationUrl?: string, reason?: string) {
    super(message, status);
    this.documentationUrl = documentationUrl;
    this.reason = reason;
  }
}
