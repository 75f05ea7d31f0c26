/** How much of this server one session may have at a time. */
import type { Context, MiddlewareHandler } from "hono";
import { refusal } from "../auth/guard.ts";
import type { Env } from "../env.ts";

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

const retrySeconds = 1;

/** The answer for whoever has no place. */
export function crowded(c: Context, what: string, { most }: Places): Response {
  c.header("retry-after", String(retrySeconds));
  return c.json(
    refusal("TooMany", `expected at most ${most} ${what} of one session at once, found more. Try again.`),
    429,
  );
}

/** Lets a request in while its session has a place, until its answer begins. */
export const limited =
  (of: Places): MiddlewareHandler<Env> =>
  async (c, next) => {
    const leave = of.take(c.get("session").id);
    if (leave === undefined) return crowded(c, "requests", of);
    try {
      return await next();
    } finally {
      leave();
    }
  };
