/**
 * A lease on the bus: one of several bridges watches a kind, and the others stand by. Like client-go's leader election,
 * it compares no clocks: a standby takes over when the holder's record has not changed for `takeMillis`, measured on
 * the standby's own clock, with a compare-and-set on the record's revision.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { KV } from "@nats-io/kv";
import { isWrongSequence } from "../nats/wrongsequence.ts";
import { turnEnd, untilShared } from "../values/eventloop.ts";

/** Times of a lease, in milliseconds. */
export interface LeaseTimes {
  /** Interval at which the holder renews, all its leases together, and a standby polls. */
  readonly renewMillis: number;
  /** The holder stops if it could not renew for this long. */
  readonly holdMillis: number;
  /** A standby takes over if the record was not renewed for this long. Above `holdMillis`. */
  readonly takeMillis: number;
}

export const defaultLease: LeaseTimes = { renewMillis: 700, holdMillis: 2200, takeMillis: 3000 };

/** Leases that are renewed in one turn leave in one socket write. */
const together = turnEnd();

/** A failed renewal is retried after this share of `renewMillis`. */
const retryShare = 0.2;

/** The holder that a lease record names; empty when the lease is free. */
export const holderIn = (record: string): string => record.split(" ", 1)[0] ?? "";

/** Options of {@link holdLease}. */
export interface LeaseOptions {
  readonly kv: KV;
  readonly key: string;
  /** Unique among the candidates; without spaces. */
  readonly holder: string;
  readonly times?: LeaseTimes;
  readonly signal: AbortSignal;
  /**
   * Runs while the lease is held. `held` aborts when the lease is lost; `assertHeld` also checks the clock, and throws.
   * When the function returns or throws, the lease is given back.
   */
  readonly lead: (held: AbortSignal, assertHeld: () => void) => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** How long to stand aside at least after leading or an error, for a candidate that can lead better. Milliseconds. */
  readonly asideMillis?: () => number;
  /** Another candidate renews its lease, so the standby is healthy. */
  readonly onStandby?: () => void;
}

/** Alternates between standing by and leading until `signal` aborts. */
export async function holdLease(options: LeaseOptions): Promise<void> {
  const { signal, onError, times = defaultLease } = options;
  // A random id makes the record ours even if another process has the same name.
  const record = `${options.holder} ${randomUUID()}`;
  while (!signal.aborted) {
    try {
      const revision = await acquire(options, times, record);
      if (revision !== undefined) await leadWhileHeld(options, times, record, revision);
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
    const pause = Math.max(times.renewMillis, options.asideMillis?.() ?? 0);
    await sleep(pause * (0.8 + 0.4 * Math.random()), undefined, { signal }).catch(() => undefined);
  }
}

/** Waits until the lease is free and takes it. Returns the revision of our record. */
async function acquire(
  { kv, key, signal, onStandby }: LeaseOptions,
  times: LeaseTimes,
  record: string,
): Promise<number | undefined> {
  let seen: { revision: number; since: number } | undefined;
  while (!signal.aborted) {
    const entry = await kv.get(key);
    const now = performance.now();
    if (entry === null || entry.operation !== "PUT") return claim(() => kv.create(key, record));
    // The lease is free, or still ours from before the bus was unavailable.
    if (["", record].includes(entry.string())) return claim(() => kv.update(key, record, entry.revision));
    if (seen?.revision !== entry.revision) {
      if (seen) onStandby?.();
      seen = { revision: entry.revision, since: now };
    } else if (now - seen.since >= times.takeMillis)
      return claim(() => kv.update(key, record, entry.revision));
    await sleep(times.renewMillis * (0.4 + 0.2 * Math.random()), undefined, { signal });
  }
  return undefined;
}

/** Makes a conditional write. Returns undefined if another process has written in between. */
export async function claim(write: () => Promise<number>): Promise<number | undefined> {
  try {
    return await write();
  } catch (error) {
    if (isWrongSequence(error)) return undefined;
    throw error;
  }
}

async function leadWhileHeld(
  { kv, key, signal, lead, onError }: LeaseOptions,
  times: LeaseTimes,
  record: string,
  first: number,
): Promise<void> {
  const held = new AbortController();
  const lose = (why: string) => held.abort(new Error(`the lease ${key} is lost: ${why}`));
  const stop = () => lose("it is no longer needed");
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  let revision = first;
  let renewal: Promise<number | undefined> | undefined;
  let renewed = performance.now();

  function assertHeld(): void {
    // After a pause, a process reads buffered input before its timers run.
    const age = performance.now() - renewed;
    if (age > times.takeMillis) lose(`not renewed for ${Math.round(age)} ms`);
    held.signal.throwIfAborted();
  }

  /** Replaces our record. Returns undefined if another process has taken the lease. */
  async function overwrite(text: string): Promise<number | undefined> {
    const next = await claim(() => kv.update(key, text, revision));
    if (next !== undefined) return next;
    // Our own write may have moved the revision, with its answer lost.
    const entry = await kv.get(key);
    return entry?.string() === record ? claim(() => kv.update(key, text, entry.revision)) : undefined;
  }

  /** Empties the record, so that a standby need not wait. */
  async function giveBack(): Promise<void> {
    // On stop, an unanswered renewal may still change the revision.
    revision = (await renewal?.catch(() => undefined)) ?? revision;
    await overwrite("").catch(onError);
  }

  const renewing = (async () => {
    let pause = untilShared(times.renewMillis);
    let failure = "";
    while (!held.signal.aborted) {
      await sleep(pause, undefined, { signal: held.signal });
      await together();
      if (held.signal.aborted) return;
      const sent = performance.now();
      if (sent - renewed > times.holdMillis)
        return lose(`not renewed for ${Math.round(sent - renewed)} ms${failure}`);
      const left = times.holdMillis - (sent - renewed);
      try {
        renewal = overwrite(record);
        const next = await Promise.race([renewal, sleep(left, "late" as const, { signal: held.signal })]);
        if (next === "late") return lose("the bus does not answer");
        if (next === undefined) return lose("another bridge has taken it");
        revision = next;
        renewed = sent;
        pause = untilShared(times.renewMillis);
        failure = "";
      } catch (error) {
        failure = `, at last because ${(error as Error).message}`;
        pause = times.renewMillis * retryShare;
      }
    }
  })().catch(() => undefined);

  try {
    await lead(held.signal, assertHeld);
  } finally {
    const ours = !held.signal.aborted || signal.aborted;
    lose("given back");
    signal.removeEventListener("abort", stop);
    await renewing;
    if (ours) await giveBack();
  }
}
