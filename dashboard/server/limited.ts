/** Limits a user's concurrent requests. */
import type { Context, MiddlewareHandler } from "hono";
import type { Env } from "./env.ts";
import type { Places } from "./places.ts";
import { refusal } from "./refusal.ts";

const retrySeconds = 1;

/** The response if the user has reached the limit. */
export function crowded(c: Context, what: string, { most }: Places): Response {
  c.header("retry-after", String(retrySeconds));
  return c.json(
    refusal("TooMany", `You have reached the limit of ${most} concurrent ${what}. Try again in a moment.`),
    429,
  );
}

/**
 * Takes a slot until the response is sent or its connection is closed, because a response that the browser does not read holds
 * memory. Returns false if the user has no slot left.
 */
export function takePlace(c: Context<Env>, of: Places, user: string): boolean {
  const leave = of.take(user);
  if (leave === undefined) return false;
  const { outgoing } = c.env;
  if (outgoing.closed) leave();
  else outgoing.once("close", leave);
  return true;
}

/** Rejects requests over the user's limit. */
export const limited =
  (of: Places): MiddlewareHandler<Env> =>
  async (c, next) =>
    takePlace(c, of, c.get("session").session.user) ? next() : crowded(c, "requests", of);
