/** Whom GitHub wants no call from, and until when. */
import { Recent } from "../values/recent.ts";
import { GitHubRateLimitedError, longestWaitMillis } from "./errors.ts";

/** A memory of rate limits, shared by all clients of a process: one may not ask for what another was told to wait for. */
export interface RateLimits {
  /** Throws {@link GitHubRateLimitedError} if a call as `who` is to wait. `who` names a GitHub and an App or installation. */
  check(who: string): void;
  /** No call as `who` for as long as the error says. */
  hold(who: string, error: GitHubRateLimitedError): void;
}

/** More Apps and installations than this are not remembered. */
const limit = 10_000;

/** An empty memory. `now`: milliseconds of a clock that never goes back. */
export function rateLimits(now: () => number = () => performance.now()): RateLimits {
  const held = new Recent<{ readonly until: number; readonly time: string; readonly status: number }>({
    keptMillis: longestWaitMillis,
    limit,
    now,
  });
  return {
    check(who) {
      const found = held.get(who);
      if (found === undefined || found.until <= now()) return;
      throw new GitHubRateLimitedError(
        `expected no call as ${who} before ${found.time}, as GitHub asked when it last answered ${found.status}; ` +
          "nothing was sent. Wait for the limit to pass.",
        found.status,
        found.until - now(),
      );
    },
    hold(who, { status = 429, retryAfterMillis }) {
      const until = now() + retryAfterMillis;
      if (until <= (held.get(who)?.until ?? 0)) return;
      // Told as a time of day: the same text each time it is asked for, so that a status with it in does not change.
      const time = new Date(Date.now() + retryAfterMillis).toISOString();
      held.set(who, { until, time, status });
    },
  };
}
