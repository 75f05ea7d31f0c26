/** Random faults: the kinds are shuffled, and every kind occurs once before any occurs again. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Child } from "../../deploy/local/index.ts";
import { now } from "../harness/now.ts";
import type { Trial } from "./scenario.ts";

/** A kind of fault. */
export interface Fault {
  readonly name: string;
  /** Injects the fault, waits until it is over, and returns its victim and times. Milliseconds of the machine's clock. */
  inject(): Promise<{ readonly victim: string; readonly from: number }>;
}

/** An injected fault. Milliseconds of the machine's clock. */
export interface Injected {
  readonly name: string;
  readonly victim: string;
  readonly from: number;
  readonly to: number;
}

/** A running injection of faults. */
export interface Faults {
  readonly injected: readonly Injected[];
  /** Resolves when every kind has been injected once. Rejects if a fault could not be injected. */
  readonly eachOnce: Promise<void>;
  /** Whether every kind has been injected once. Throws if a fault could not be injected. */
  isEachInjected(): boolean;
  /** Stops and waits for the last fault to end. Rejects if a fault could not be injected. */
  stop(): Promise<void>;
}

/** Injects faults one after the other, with pauses of about `pauseMillis` between them. */
export function startFaults(trial: Trial, kinds: readonly Fault[], pauseMillis: number): Faults {
  const injected: Injected[] = [];
  const stopping = new AbortController();
  const signal = AbortSignal.any([trial.signal, stopping.signal]);
  const eachOnce = Promise.withResolvers<void>();
  let isEachInjected = false;
  let failure: { readonly error: unknown } | undefined;
  const done = (async () => {
    for (;;) {
      for (const fault of shuffled(kinds, trial.next)) {
        await sleep(pauseMillis * (0.5 + trial.next()), undefined, { signal }).catch(() => undefined);
        if (signal.aborted) return;
        injected.push({ name: fault.name, ...(await fault.inject()), to: now() });
      }
      isEachInjected = true;
      eachOnce.resolve();
    }
  })();
  done.catch((error: unknown) => {
    failure = { error };
    eachOnce.reject(error);
  });
  eachOnce.promise.catch(() => undefined);
  return {
    injected,
    eachOnce: eachOnce.promise,
    isEachInjected() {
      if (failure !== undefined) throw failure.error;
      return isEachInjected;
    },
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

/** `kill -9`, then a restart. */
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

/** An orderly stop, then a restart. */
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

/** Ensures that a pause interrupts a reconcile. A pause that interrupts none shows nothing. */
export interface PauseOptions {
  /** Gives the victim work that the pause can interrupt. */
  readonly prepare: (child: Child) => Promise<void>;
  /** Whether the pause interrupted that work. Called while the victim is stopped, because the work could end before that. */
  readonly isCaught: (child: Child) => Promise<boolean>;
}

/** SIGSTOP for a while, as if the machine was suspended or swapping. */
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

/** A random element. */
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
