/**
 * The brake on hot loops: a reconcile that writes each time an event wakes it, again and again, is usually woken by
 * what it writes (a timestamp in a status, or a fight with another writer over one field).
 */
import { Recent } from "../recent.ts";
import { keyText, type ObjectKey } from "../subjects.ts";

/** Limits of the brake. */
export interface BrakeLimits {
  /** So many event-caused reconciles that wrote something… */
  readonly reconciles: number;
  /** …within so many milliseconds are a hot loop… */
  readonly windowMillis: number;
  /** …and the next one waits so long. Milliseconds. */
  readonly pauseMillis: number;
}

export const defaultBrake: BrakeLimits = { reconciles: 30, windowMillis: 10_000, pauseMillis: 5_000 };

/** Watches over the keys of one function in one process. */
export interface Brake {
  /** A reconcile that an event caused has written something. */
  note(key: ObjectKey): void;
  /** How long an event-caused reconcile of the key has to wait; 0 for all but hot loops. Milliseconds. */
  pause(key: ObjectKey): number;
}

const keptKeys = 2_000;

/** What is known of one key. */
interface Pace {
  readonly times: readonly number[];
  /** Until when it waits: more events must not push the end of its pause away. */
  readonly pausedUntil: number;
}

/** A brake with the given limits and clock (milliseconds). */
export function brake(
  limits: BrakeLimits = defaultBrake,
  now: () => number = () => performance.now(),
): Brake {
  const keptMillis = limits.windowMillis + limits.pauseMillis;
  const paces = new Recent<Pace>({ keptMillis, limit: keptKeys, now });
  const paceOf = (key: ObjectKey): Pace => {
    const { times, pausedUntil } = paces.get(keyText(key)) ?? { times: [], pausedUntil: 0 };
    const since = now() - limits.windowMillis;
    return { times: times.filter((time) => time > since), pausedUntil };
  };
  return {
    note(key) {
      const { times, pausedUntil } = paceOf(key);
      paces.set(keyText(key), { times: [...times, now()], pausedUntil });
    },
    pause(key) {
      const { times, pausedUntil } = paceOf(key);
      if (pausedUntil > now()) return pausedUntil - now();
      if (times.length < limits.reconciles) return 0;
      paces.set(keyText(key), { times, pausedUntil: now() + limits.pauseMillis });
      return limits.pauseMillis;
    },
  };
}
