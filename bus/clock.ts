/**
 * The time by the clock of the NATS servers. Schedules fall due by that clock, and replicas on several machines share it: a
 * process whose own clock is wrong would set its timers into the past, or find those of others overdue.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "./connect.ts";

/** A clock that all processes of a bus agree on. */
export interface BusClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** How far it is ahead of this machine's clock. Milliseconds; negative when this machine is ahead. */
  offsetMillis(): number;
}

/** This machine's own clock. */
export const machineClock: BusClock = { now: () => Date.now(), offsetMillis: () => 0 };

/** Source of the time, and interval of the readings. */
export interface BusClockOptions {
  readonly bus: Pick<Bus, "inbox">;
  /** A consumer that this user may look at: the answer says when the server gave it. */
  readonly stream: string;
  readonly consumer: string;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
  readonly everyMillis?: number;
}

/** A reading of the server's clock. */
interface Reading {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** When it was that time, by `performance.now()`. */
  readonly at: number;
  /** How wrong it may be, in milliseconds: half of the round trip. */
  readonly error: number;
}

/** The first reading is the best of so many. */
const firstReadings = 3;

/** Reads the server's clock, then again every minute until `signal` aborts. Rejects when the first reading fails. */
export async function startBusClock(options: BusClockOptions): Promise<BusClock> {
  const { bus, stream, consumer, signal, onError, everyMillis = 60_000 } = options;

  async function read(): Promise<Reading> {
    const asked = performance.now();
    const answer = await bus.inbox.request(`$JS.API.CONSUMER.INFO.${stream}.${consumer}`, "");
    const answered = performance.now();
    const { ts } = answer.json<{ ts?: string }>();
    const time = Date.parse(ts ?? "");
    if (Number.isNaN(time))
      throw new Error(
        `the consumer ${consumer} of ${stream} was answered without a time: ${answer.string()}`,
      );
    return { time, at: (asked + answered) / 2, error: (answered - asked) / 2 };
  }

  let best = await read();
  for (let count = 1; count < firstReadings; count++) best = better(best, await read());

  void (async () => {
    for (;;) {
      await sleep(everyMillis * (0.8 + 0.4 * Math.random()), undefined, { signal, ref: false });
      try {
        best = better({ ...best, error: best.error + driftMillis }, await read());
      } catch (error) {
        // The machine's clocks do not drift apart that fast: the last reading is good for hours.
        onError(error);
      }
    }
  })().catch(() => undefined);

  const now = () => Math.round(best.time + performance.now() - best.at);
  return { now, offsetMillis: () => now() - Date.now() };
}

/** How much worse a reading gets from one to the next, so that a new one replaces it. Milliseconds. */
const driftMillis = 5;

const better = (a: Reading, b: Reading): Reading => (b.error <= a.error ? b : a);
