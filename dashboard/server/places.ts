/** Limits what one user may use of this server at a time, over all sessions. */

/** Limits concurrent use per user. */
export interface Places {
  readonly most: number;
  /** Takes a slot and returns a function that releases it; undefined if the user has none left. */
  take(user: string): (() => void) | undefined;
}

/** Allows each user `most` slots. */
export function places(most: number): Places {
  const taken = new Map<string, number>();
  return {
    most,
    take(user) {
      const count = taken.get(user) ?? 0;
      if (count >= most) return undefined;
      taken.set(user, count + 1);
      let isGiven = false;
      return () => {
        if (isGiven) return;
        isGiven = true;
        const left = (taken.get(user) ?? 1) - 1;
        if (left === 0) taken.delete(user);
        else taken.set(user, left);
      };
    },
  };
}
