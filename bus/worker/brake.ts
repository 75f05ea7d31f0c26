/**
 * The brake on hot loops. There are three causes:
 * - A reconcile writes something on every event and is triggered by its own writes (a timestamp in a status, or a fight with
 *   another writer over one field).
 * - A reconcile waits for something that does not happen, and keeps asking to be called again at once.
 * - A reconcile asks to be called later and is called at once, because a wrong clock set its timers.
 */

import { keyText, type ObjectKey } from "../subjects.ts";
import { Recent } from "../values/recent.ts";

/** Limits of the brake. */
export interface BrakeLimits {
  /** Reconciles within the window that make a hot loop: event-caused ones that wrote, and timer-caused ones that fired early. */
  readonly reconciles: number;
  /** The same for timer-caused reconciles that asked to be called again at once. */
  readonly timers: number;
  readonly windowMillis: number;
  /** How long the next reconcile of a hot loop waits. */
  readonly pauseMillis: number;
}

/** Short timers can be legitimate: 30 steps a second are allowed. */
export const defaultBrake: BrakeLimits = {
  reconciles: 30,
  timers: 300,
  windowMillis: 10_000,
  pauseMillis: 5_000,
};

/** Causes of reconciles that can form a hot loop. */
export type Pacing = "event" | "timer";

/** Detects hot loops among the keys of one function in one process. */
export interface Brake {
  /**
   * Records a reconcile that was caused by a timer, or by an event and wrote something. It asked to be called again after
   * `nextInMillis`.
   */
  note(key: ObjectKey, by: Pacing, nextInMillis?: number): void;
  /** How long such a reconcile of the key must wait, in milliseconds; 0 unless the key is in a hot loop. */
  pause(key: ObjectKey, by: Pacing): number;
}

const keptKeys = 2_000;

/** Recent reconciles of one key. */
interface Pace {
  readonly times: readonly number[];
  /** The delay that the last reconcile asked for. */
  readonly nextInMillis: number;
  /** The end of the current pause. More events must not extend it. */
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
    const { times, nextInMillis, pausedUntil } = paces[by].get(keyText(key)) ?? initialPace;
    const since = now() - limits.windowMillis;
    return { times: times.filter((time) => time > since), nextInMillis, pausedUntil };
  };
  // Twice the interval at the limit, so that no legitimate timer comes near it.
  const soonMillis = (2 * limits.windowMillis) / limits.reconciles;
  const limitOf = (by: Pacing, { nextInMillis }: Pace): number =>
    by === "timer" && nextInMillis < soonMillis ? limits.timers : limits.reconciles;
  return {
    note(key, by, nextInMillis = 0) {
      const { times, pausedUntil } = paceOf(key, by);
      paces[by].set(keyText(key), { times: [...times, now()], nextInMillis, pausedUntil });
    },
    pause(key, by) {
      const pace = paceOf(key, by);
      if (pace.pausedUntil > now()) return pace.pausedUntil - now();
      if (pace.times.length < limitOf(by, pace)) return 0;
      paces[by].set(keyText(key), { ...pace, pausedUntil: now() + limits.pauseMillis });
      return limits.pauseMillis;
    },
  };
}

const initialPace: Pace = { times: [], nextInMillis: 0, pausedUntil: 0 };
