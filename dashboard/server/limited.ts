/** Limits the answers that one user may have under way. */
import type { Context, MiddlewareHandler } from "hono";
import type { Env } from "./env.ts";
import type { Places } from "./places.ts";
import { refusal } from "./refusal.ts";

const retrySeconds = 1;

/** The answer for a user who has no place left. */
export function crowded(c: Context, what: string, { most }: Places): Response {
  c.header("retry-after", String(retrySeconds));
  return c.json(
    refusal("TooMany", `expected at most ${most} ${what} of one user at once, found more. Try again.`),
    429,
  );
}

/**
 * Takes a place that the user has until the answer is sent to its end, or its connection is closed: an answer that the
 * browser does not read holds memory, and what it comes from. False when the user has none left.
 */
export function takePlace(c: Context<Env>, of: Places, user: string): boolean {
  const leave = of.take(user);
  if (leave === undefined) return false;
  const { outgoing } = c.env;
  if (outgoing.closed) leave();
  else outgoing.once("close", leave);
  return true;
}

/** Lets a request in while its user has a place. */
export const limited =
  (of: Places): MiddlewareHandler<Env> =>
  async (c, next) =>
    takePlace(c, of, c.get("session").session.user) ? next() : crowded(c, "requests", of);
