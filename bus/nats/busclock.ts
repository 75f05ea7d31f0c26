/**
 * The time by the clock of the NATS servers, which replicas on several machines share. Schedules fall due by that clock. A
 * process that used its own, wrong clock would set its timers in the past, or treat timers of other processes as overdue.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "./connect.ts";

/** A clock that all processes on a bus share. */
export interface BusClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** How far it is ahead of this machine's clock. Milliseconds; negative when this machine is ahead. */
  offsetMillis(): number;
}

/** The clock of this machine. */
export const machineClock: BusClock = { now: () => Date.now(), offsetMillis: () => 0 };

/** Options of {@link startBusClock}. */
export interface BusClockOptions {
  readonly bus: Pick<Bus, "inbox" | "nc">;
  /** A stream, or a consumer of it, whose info this user may request: the response carries the server's time. */
  readonly stream: string;
  readonly consumer?: string;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
  readonly everyMillis?: number;
}

/** A reading of the server's clock. */
interface Reading {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** `performance.now()` at that time. */
  readonly at: number;
  /** Maximum error in milliseconds: half of the round trip. */
  readonly error: number;
}

/** Number of initial readings, of which the best is used. */
const firstReadings = 3;

/**
 * Reads the server's clock every minute, after a reconnect, and after this machine was suspended or its clock was set, until
 * `signal` aborts. Rejects if the first reading fails.
 */
export async function startBusClock(options: BusClockOptions): Promise<BusClock> {
  const { bus, stream, consumer, signal, onError, everyMillis = 60_000 } = options;
  const subject =
    consumer === undefined ? `$JS.API.STREAM.INFO.${stream}` : `$JS.API.CONSUMER.INFO.${stream}.${consumer}`;

  async function read(): Promise<Reading> {
    const sent = performance.now();
    const answer = await bus.inbox.request(subject, "");
    const received = performance.now();
    const { ts } = answer.json<{ ts?: string }>();
    const time = Date.parse(ts ?? "");
    if (Number.isNaN(time)) throw new Error(`the answer to ${subject} has no time: ${answer.string()}`);
    return { time, at: (sent + received) / 2, error: (received - sent) / 2 };
  }

  let best = await read();
  for (let count = 1; count < firstReadings; count++) best = better(best, await read());

  const reads = periodically(everyMillis, signal, async () => {
    try {
      best = better({ ...best, error: best.error + driftMillis }, await read());
    } catch (error) {
      // The clocks drift slowly: the last reading is good for hours.
      onError(error);
    }
  });
  void (async () => {
    for await (const { type } of bus.nc.status()) if (type === "reconnect") reads.now();
  })();
  let difference = Date.now() - performance.now();

  function now(): number {
    const monotonic = performance.now();
    const newDifference = Date.now() - monotonic;
    // `performance.now()` stops while a machine is suspended, and ignores changes of the clock.
    if (Math.abs(newDifference - difference) > jumpMillis) reads.now();
    difference = newDifference;
    return Math.round(best.time + monotonic - best.at);
  }
  return { now, offsetMillis: () => now() - Date.now() };
}

/** Calls periodically, and at once on request; never concurrently. */
function periodically(
  everyMillis: number,
  signal: AbortSignal,
  call: () => Promise<void>,
): { readonly now: () => void } {
  let interruption = new AbortController();
  const pause = async (): Promise<void> => {
    const end = AbortSignal.any([signal, interruption.signal]);
    const millis = everyMillis * (0.8 + 0.4 * Math.random());
    await sleep(millis, undefined, { signal: end, ref: false }).catch(() => undefined);
    interruption = new AbortController();
  };
  void (async () => {
    for (await pause(); !signal.aborted; await pause()) await call();
  })();
  return { now: () => interruption.abort() };
}

/** If the difference between this machine's two clocks changes by more, one of them stopped or was set. Milliseconds. */
const jumpMillis = 1000;

/** The drift that is assumed since the last reading, so that a new reading replaces it. Milliseconds. */
const driftMillis = 5;

/** The more exact of two readings, or the later one if they contradict each other. */
function better(a: Reading, b: Reading): Reading {
  const difference = Math.abs(a.time + b.at - a.at - b.time);
  return difference > a.error + b.error || b.error <= a.error ? b : a;
}

/** Nanoseconds since the epoch of a time in RFC 3339. Throws a `SyntaxError` or `RangeError` on anything else. */
export function nanosOf(time: string): bigint {
  const [seconds = "", fraction = ""] = time.replace(/Z$/, "").split(".");
  return BigInt(Date.parse(`${seconds}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}
