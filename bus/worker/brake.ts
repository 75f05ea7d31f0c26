/**
 * The brake on hot loops: a reconcile that writes each time an event wakes it, again and again, is usually woken by
 * what it writes (a timestamp in a status, or a fight with another writer over one field).
 */
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

/** A brake with the given limits and clock (milliseconds). */
export function brake(
  limits: BrakeLimits = defaultBrake,
  now: () => number = () => performance.now(),
): Brake {
  const times = new Map<string, number[]>();
  // Until when a key waits: more events must not push the end of its pause away.
  const paused = new Map<string, number>();
  const recent = (key: ObjectKey): number[] => {
    const since = now() - limits.windowMillis;
    return (times.get(keyText(key)) ?? []).filter((time) => time > since);
  };
  return {
    note(key) {
      const list = recent(key);
      list.push(now());
      times.delete(keyText(key));
      times.set(keyText(key), list);
      if (times.size <= keptKeys) return;
      const [oldest] = times.keys();
      times.delete(oldest ?? "");
      paused.delete(oldest ?? "");
    },
    pause(key) {
      const text = keyText(key);
      if (!times.has(text)) return 0;
      const until = paused.get(text);
      if (until !== undefined && until > now()) return until - now();
      paused.delete(text);
      if (recent(key).length < limits.reconciles) return 0;
      paused.set(text, now() + limits.pauseMillis);
      return limits.pauseMillis;
    },
  };
}
