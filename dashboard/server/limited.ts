/** What a session is told that has all of its places taken. */
import type { Context, MiddlewareHandler } from "hono";
import type { Env } from "./env.ts";
import type { Places } from "./places.ts";
import { refusal } from "./refusal.ts";

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
