import { minutes } from "denrei/values";

/** Computes when to refresh a token. Pure. */

/** Lifetime of a token, in milliseconds since the epoch. */
export interface Life {
  readonly issued: number;
  readonly expires: number;
}

/** Minimum time before a refresh. A request to refresh an hour before the end results in a refresh at two thirds of the hour. */
const minUse = minutes(20);
const maxSpread = 30_000;

/**
 * The time of the refresh: `beforeMillis` before the end, but not within the first twenty minutes or the last sixth of the lifetime.
 * The last sixth leaves time to retry when GitHub does not answer. A random offset of up to half a minute spreads the refreshes of
 * tokens that were minted at the same time.
 */
export function refreshTime({ issued, expires }: Life, beforeMillis: number, random = Math.random): number {
  const life = Math.max(0, expires - issued);
  const spread = Math.min(maxSpread, life / 60);
  const desired = Math.max(expires - beforeMillis, issued + minUse + spread);
  const latest = issued + (life * 5) / 6;
  return Math.floor(Math.min(desired, latest) - random() * spread);
}
