/** How much of this server one session may have at a time. */

/** Places that sessions take and give back. */
export interface Places {
  readonly most: number;
  /** Takes one, and returns what gives it back; undefined when the session has all of its places taken. */
  take(session: string): (() => void) | undefined;
}

/** `most` places for each session. */
export function places(most: number): Places {
  const taken = new Map<string, number>();
  return {
    most,
    take(session) {
      const count = taken.get(session) ?? 0;
      if (count >= most) return undefined;
      taken.set(session, count + 1);
      let isGiven = false;
      return () => {
        if (isGiven) return;
        isGiven = true;
        const left = (taken.get(session) ?? 1) - 1;
        if (left === 0) taken.delete(session);
        else taken.set(session, left);
      };
    },
  };
}
