/**
 * The brake on hot loops. A reconcile that writes each time an event wakes it is usually woken by what it writes (a timestamp
 * in a status, or a fight with another writer over one field). A reconcile that asks to be called again at once, again and
 * again, waits for something that does not come. And one that asks for a later time and is called at once has timers
 * that a wrong clock has set.
 */

import { keyText, type ObjectKey } from "../subjects.ts";
import { Recent } from "../values/recent.ts";

/** Limits of the brake. */
export interface BrakeLimits {
  /** This many event-caused reconciles that wrote something… */
  readonly reconciles: number;
  /** …or this many timer-caused ones that asked for the next at once, and as few as the others where they asked for later… */
  readonly timers: number;
  /** …within this time are a hot loop, in milliseconds… */
  readonly windowMillis: number;
  /** …and the next one waits this long. Milliseconds. */
  readonly pauseMillis: number;
}

/** Short timers can be honest work: 30 steps a second are. */
export const defaultBrake: BrakeLimits = {
  reconciles: 30,
  timers: 300,
  windowMillis: 10_000,
  pauseMillis: 5_000,
};

/** The cause of a reconcile, of those that can become too many. */
export type Pacing = "event" | "timer";

/** Watches over the keys of one function in one process. */
export interface Brake {
  /**
   * A timer has caused a reconcile, or an event has caused one that has written something. It has asked to be called again
   * after `nextInMillis`.
   */
  note(key: ObjectKey, by: Pacing, nextInMillis?: number): void;
  /** How long such a reconcile of the key has to wait; 0 for all but hot loops. Milliseconds. */
  pause(key: ObjectKey, by: Pacing): number;
}

const keptKeys = 2_000;

/** What is known of one key. */
interface Pace {
  readonly times: readonly number[];
  /** What the last one asked for. */
  readonly nextInMillis: number;
  /** Until when it waits: more events must not push the end of its pause away. */
  readonly pausedUntil: number;
}

/** A brake with the given limits and clock (milliseconds). */
export function brake(
  limits: BrakeLimits = defaultBrake,
  now: () => number = () => performance.now(),
): Brake {
  const keptMillis = limits.windowMillis + limits.pauseMillis;
  const recent = () => new Recent<Pace>({ keptMillis, limit: keptKeys, now });
  const paces: Record<Pacing, Recent<Pace>> = { event: recent(), timer: recent() };
  const paceOf = (key: ObjectKey, by: Pacing): Pace => {
    const { times, nextInMillis, pausedUntil } = paces[by].get(keyText(key)) ?? unknown;
    const since = now() - limits.windowMillis;
    return { times: times.filter((time) => time > since), nextInMillis, pausedUntil };
  };
  // Half as many as come one after the other, so that no honest timer is near the limit.
  const soonMillis = (2 * limits.windowMillis) / limits.reconciles;
  const most = (by: Pacing, { nextInMillis }: Pace): number =>
    by === "timer" && nextInMillis < soonMillis ? limits.timers : limits.reconciles;
  return {
    note(key, by, nextInMillis = 0) {
      const { times, pausedUntil } = paceOf(key, by);
      paces[by].set(keyText(key), { times: [...times, now()], nextInMillis, pausedUntil });
    },
    pause(key, by) {
      const pace = paceOf(key, by);
      if (pace.pausedUntil > now()) return pace.pausedUntil - now();
      if (pace.times.length < most(by, pace)) return 0;
      paces[by].set(keyText(key), { ...pace, pausedUntil: now() + limits.pauseMillis });
      return limits.pauseMillis;
    },
  };
}

const unknown: Pace = { times: [], nextInMillis: 0, pausedUntil: 0 };
