/** Remembers rate limits of GitHub. */
import { Recent } from "../values/recent.ts";
import { GitHubRateLimitedError, longestWaitMillis } from "./errors.ts";

/** Rate limits, shared by all clients of a process: a limit for one applies to all. */
export interface RateLimits {
  /** Throws {@link GitHubRateLimitedError} if a call as `who` has to wait. `who` names a GitHub and an App or installation. */
  check(who: string): void;
  /** Blocks calls as `who` for as long as the error says. */
  hold(who: string, error: GitHubRateLimitedError): void;
}

/** Maximum number of Apps and installations to remember. */
const limit = 10_000;

/** Opens an empty memory. `now`: a monotonic clock in milliseconds. */
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
        `rate limited: GitHub answered ${found.status} and allows no calls as ${who} before ${found.time}; ` +
          "nothing was sent. Wait for the limit to pass.",
        found.status,
        found.until - now(),
      );
    },
    hold(who, { status = 429, retryAfterMillis }) {
      const until = now() + retryAfterMillis;
      if (until <= (held.get(who)?.until ?? 0)) return;
      // A time of day keeps the text the same for each call, so a status with it does not change.
      const time = new Date(Date.now() + retryAfterMillis).toISOString();
      held.set(who, { until, time, status });
    },
  };
}
