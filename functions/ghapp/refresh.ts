/** When a token is refreshed. Pure. */

/** A token's life, in milliseconds since the epoch. */
export interface Life {
  readonly issued: number;
  readonly expires: number;
}

const minutes = (n: number): number => n * 60_000;

/** Sooner than this no token is refreshed that lives an hour: whoever asks for all of an hour gets two thirds. */
const leastUse = minutes(20);
const mostSpread = 30_000;

/**
 * When to refresh: so long before its end, but not within the first twenty minutes; never in the last sixth of its life, so
 * that a GitHub that does not answer has time to come back. Up to half a minute sooner than that, so that tokens that were
 * made together are not refreshed together.
 */
export function refreshTime({ issued, expires }: Life, beforeMillis: number, random = Math.random): number {
  const life = Math.max(0, expires - issued);
  const spread = Math.min(mostSpread, life / 60);
  const wanted = Math.max(expires - beforeMillis, issued + leastUse + spread);
  const latest = issued + (life * 5) / 6;
  return Math.floor(Math.min(wanted, latest) - random() * spread);
}
