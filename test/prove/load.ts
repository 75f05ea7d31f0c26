/** Changes at a steady rate: hot keys that change all the time, and keys that change once. */
import { setTimeout as sleep } from "node:timers/promises";
import { now } from "../harness/now.ts";
import type { TrialEnvironment } from "./environment.ts";
import type { Trial } from "./scenario.ts";

/** The size of the load. */
export interface LoadOptions {
  /** Each hot key changes every {@link hotMillis}. */
  readonly hotKeys: number;
}

/** A running load. */
export interface Load {
  /** Changes so far. */
  made(): number;
  /** The rate of a load that has ended. */
  perSecond(): number;
  /** Ends the load. Rejects if the bus refused a change. */
  stop(): Promise<void>;
}

/** Often enough to reveal a pause of a key. Milliseconds. */
const hotMillis = 80;
/** After this many changes of hot keys, a new key changes once. No later change can hide the loss of that one. */
const hotPerOnce = 6;
/** One in this many hot keys reconciles slowly, so that a dying worker has some in flight. */
const slowEvery = 10;
const slowMillis = 20;
const tickMillis = 2;

/** Changes keys until it is stopped. */
export function startLoad(trial: Trial, environment: TrialEnvironment, { hotKeys }: LoadOptions): Load {
  const begun = now();
  let hot = 0;
  let once = 0;
  let isRunning = true;
  let seconds = 0;
  const elapsed = (): number => now() - begun;

  async function changeNext(): Promise<void> {
    const key = hot % hotKeys;
    hot++;
    await environment.change(`hot-${key}`, key % slowEvery === 0 ? slowMillis : 0);
    if (hot % hotPerOnce === 0) await environment.change(`once-${++once}`);
  }

  const done = (async () => {
    while (isRunning) {
      trial.signal.throwIfAborted();
      // Catch up after a delay, so that the rate does not depend on the bus.
      while (hot < (elapsed() / hotMillis) * hotKeys) await changeNext();
      await sleep(tickMillis);
    }
  })();
  done.catch(() => undefined);

  return {
    made: () => hot + once,
    perSecond: () => Math.round((hot + once) / seconds),
    async stop() {
      isRunning = false;
      await done;
      seconds = elapsed() / 1000;
    },
  };
}
