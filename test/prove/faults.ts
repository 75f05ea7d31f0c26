/** Faults that are drawn like cards: each kind comes in a random order, and every kind comes before one comes again. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Child } from "../../deploy/local/index.ts";
import { now } from "./journal.ts";
import type { Trial } from "./scenario.ts";

/** A kind of fault. */
export interface Fault {
  readonly name: string;
  /** Injects it, waits until it is over, and says whom it hit and when. Milliseconds of the machine's clock. */
  inject(): Promise<{ readonly victim: string; readonly from: number }>;
}

/** A fault that was injected. Milliseconds of the machine's clock. */
export interface Injected {
  readonly name: string;
  readonly victim: string;
  readonly from: number;
  readonly to: number;
}

/** Faults under way. */
export interface Faults {
  readonly injected: readonly Injected[];
  /** Resolves when every kind was injected once. */
  readonly eachOnce: Promise<void>;
  /** Resolves when the last one is over. Rejects when one could not be injected. */
  stop(): Promise<void>;
}

/** Injects faults, one after the other with pauses of about `pauseMillis` between them. */
export function startFaults(trial: Trial, kinds: readonly Fault[], pauseMillis: number): Faults {
  const injected: Injected[] = [];
  const stopping = new AbortController();
  const signal = AbortSignal.any([trial.signal, stopping.signal]);
  const eachOnce = Promise.withResolvers<void>();
  const done = (async () => {
    for (;;) {
      for (const fault of shuffled(kinds, trial.next)) {
        await sleep(pauseMillis * (0.5 + trial.next()), undefined, { signal }).catch(() => undefined);
        if (signal.aborted) return;
        injected.push({ name: fault.name, ...(await fault.inject()), to: now() });
      }
      eachOnce.resolve();
    }
  })();
  done.catch((error: unknown) => eachOnce.reject(error));
  eachOnce.promise.catch(() => undefined);
  return {
    injected,
    eachOnce: eachOnce.promise,
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

/** `kill -9 of a worker: 12 times`. */
export const describeFaults = (kinds: readonly Fault[], injected: readonly Injected[]): string[] =>
  [...new Set(kinds.map(({ name }) => name))].map((name) => {
    const times = injected.filter((one) => one.name === name).length;
    return `${name}: ${times === 1 ? "once" : `${times} times`}`;
  });

/** `kill -9`, and started again. */
export const killed = (name: string, pick: () => Child): Fault => ({
  name,
  async inject() {
    const child = pick();
    const from = now();
    await child.stop("SIGKILL");
    await child.start();
    return { victim: child.name, from };
  },
});

/** Ended in order, and started again. */
export const restarted = (name: string, pick: () => Child): Fault => ({
  name,
  async inject() {
    const child = pick();
    const from = now();
    await child.stop();
    await child.start();
    return { victim: child.name, from };
  },
});

/** A pause has an effect only if it interrupts a reconcile. */
export interface PauseOptions {
  /** Gives the victim something to be interrupted in. */
  readonly prepare: (child: Child) => Promise<void>;
  /** Whether it was interrupted in that, asked while the victim is stopped: before, it could end in the meantime. */
  readonly isCaught: (child: Child) => Promise<boolean>;
}

/** Stopped for a while, as by a machine that is paused or swaps. */
export const paused = (
  name: string,
  pick: () => Child,
  millis: number,
  { prepare, isCaught }: PauseOptions,
): Fault => ({
  name,
  async inject() {
    const child = pick();
    for (;;) {
      await prepare(child);
      const pid = child.pid ?? 0;
      const from = now();
      process.kill(pid, "SIGSTOP");
      try {
        if (!(await isCaught(child))) continue;
        await sleep(millis);
      } finally {
        process.kill(pid, "SIGCONT");
      }
      return { victim: child.name, from };
    }
  },
});

/** One of several, by chance. */
export const anyOf =
  <T>(of: readonly T[], next: () => number) =>
  (): T =>
    of[Math.floor(next() * of.length)] as T;

function shuffled<T>(list: readonly T[], next: () => number): T[] {
  const left = [...list];
  const out: T[] = [];
  while (left.length > 0) out.push(...left.splice(Math.floor(next() * left.length), 1));
  return out;
}
