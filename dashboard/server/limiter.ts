/** Limits how much of this server a user can occupy at a time, across all sessions. */

/** Limits concurrent use per user. */
export interface ConcurrencyLimiter {
  readonly limit: number;
  /** Takes a slot and returns a function that releases it; undefined if the user has none left. */
  acquire(user: string): (() => void) | undefined;
}

/** Allows each user `limit` slots. */
export function concurrencyLimiter(limit: number): ConcurrencyLimiter {
  const taken = new Map<string, number>();
  return {
    limit,
    acquire(user) {
      const count = taken.get(user) ?? 0;
      if (count >= limit) return undefined;
      taken.set(user, count + 1);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        const left = (taken.get(user) ?? 1) - 1;
        if (left === 0) taken.delete(user);
        else taken.set(user, left);
      };
    },
  };
}
