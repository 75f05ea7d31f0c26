/** Limits a user's concurrent requests. */
import type { Context, MiddlewareHandler } from "hono";
import type { Env } from "./env.ts";
import { errorBody } from "./errorbody.ts";
import type { ConcurrencyLimiter } from "./limiter.ts";

const retrySeconds = 1;

/** The response if the user has reached the limit. */
export function tooManyRequests(c: Context, what: string, { limit }: ConcurrencyLimiter): Response {
  c.header("retry-after", String(retrySeconds));
  return c.json(
    errorBody("TooMany", `You have reached the limit of ${limit} concurrent ${what}. Try again in a moment.`),
    429,
  );
}

/**
 * Takes a slot until the response is sent or its connection is closed, because a response that the browser does not read holds
 * memory. Returns false if the user has no slot left.
 */
export function acquireSlot(c: Context<Env>, limiter: ConcurrencyLimiter, user: string): boolean {
  const release = limiter.acquire(user);
  if (release === undefined) return false;
  const { outgoing } = c.env;
  if (outgoing.closed) release();
  else outgoing.once("close", release);
  return true;
}

/** Rejects requests over the user's limit. */
export const limitConcurrency =
  (limiter: ConcurrencyLimiter): MiddlewareHandler<Env> =>
  async (c, next) =>
    acquireSlot(c, limiter, c.get("session").session.user) ? next() : tooManyRequests(c, "requests", limiter);
