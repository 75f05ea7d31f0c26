/** How much of this server one user may have at a time, in all of their sessions. */

/** Places that users take and give back. */
export interface Places {
  readonly most: number;
  /** Takes one, and returns what gives it back; undefined when the user has all of them taken. */
  take(user: string): (() => void) | undefined;
}

/** `most` places for each user. */
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
