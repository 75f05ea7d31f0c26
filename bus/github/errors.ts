/** What can go wrong with a call to GitHub. */
import { redacted } from "../values/redact.ts";

/**
 * A call to GitHub failed. Of this class itself: the answer is not what GitHub's API gives. No message holds a token, a
 * JWT or a key.
 */
export class GitHubError extends Error {
  override readonly name: string = "GitHubError";
  /** The HTTP code; undefined if no answer came. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(redacted(message), options);
    this.status = status;
  }
}

/** Bounds of a wait: a clock or a header that is wrong neither brings a call back at once nor keeps it off for days. */
const shortestWaitMillis = 1000;
/** The window of GitHub's primary limits. */
export const longestWaitMillis = 3_600_000;

/** GitHub wants no call for a while: neither this one nor another one of the same App or installation. */
export class GitHubRateLimitedError extends GitHubError {
  override readonly name = "GitHubRateLimitedError";
  /** How long to wait before the next try: from one second to one hour, in milliseconds. */
  readonly retryAfterMillis: number;

  constructor(message: string, status: number, retryAfterMillis: number) {
    super(message, status);
    this.retryAfterMillis = Math.min(longestWaitMillis, Math.max(shortestWaitMillis, retryAfterMillis));
  }
}

/** No answer came, or GitHub says that it has none now (5xx). It passes. */
export class GitHubUnreachableError extends GitHubError {
  override readonly name = "GitHubUnreachableError";
}

/** GitHub answered, and the answer is no; it stays so until somebody changes something. */
export class GitHubRefusedError extends GitHubError {
  override readonly name = "GitHubRefusedError";
  /** Where GitHub explains it. */
  readonly documentationUrl: string | undefined;
  /** A more exact reason than the code gives, such as `ConversationLocked` (`restrictions.ts`). */
  readonly reason: string | undefined;

  constructor(message: string, status: number, documentationUrl?: string, reason?: string) {
    super(message, status);
    this.documentationUrl = documentationUrl;
    this.reason = reason;
  }
}
