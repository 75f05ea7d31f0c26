/** Changes at a steady rate: hot keys that change all the time, and keys that change once. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Ground } from "./ground.ts";
import { now } from "./journal.ts";
import type { Trial } from "./scenario.ts";

/** How much. */
export interface LoadOptions {
  /** Each of them is changed every {@link hotMillis}. */
  readonly hotKeys: number;
}

/** A load under way. */
export interface Load {
  /** Changes so far. */
  made(): number;
  /** Of one that has ended. */
  perSecond(): number;
  /** Ends it. Rejects when the bus refused a change. */
  stop(): Promise<void>;
}

/** Often enough that a pause of a key shows. Milliseconds. */
const hotMillis = 80;
/** For each so many changes of hot keys there is one of a key that is never changed again: nothing newer helps it. */
const hotPerOnce = 6;
/** Of so many hot keys one takes its time: a worker that dies has something in its hands. */
const slowEvery = 10;
const slowMillis = 20;
const tickMillis = 2;

/** Starts changing keys, until it is stopped. */
export function startLoad(trial: Trial, ground: Ground, { hotKeys }: LoadOptions): Load {
  const begun = now();
  let hot = 0;
  let once = 0;
  let going = true;
  let seconds = 0;
  const elapsed = (): number => now() - begun;

  async function changeNext(): Promise<void> {
    const key = hot % hotKeys;
    hot++;
    await ground.change(`hot-${key}`, key % slowEvery === 0 ? slowMillis : 0);
    if (hot % hotPerOnce === 0) await ground.change(`once-${++once}`);
  }

  const done = (async () => {
    while (going) {
      trial.signal.throwIfAborted();
      // What came too late is made up for, so that the rate does not depend on how the bus bears it.
      while (hot < (elapsed() / hotMillis) * hotKeys) await changeNext();
      await sleep(tickMillis);
    }
  })();
  done.catch(() => undefined);

  return {
    made: () => hot + once,
    perSecond: () => Math.round((hot + once) / seconds),
    async stop() {
      going = false;
      await done;
      seconds = elapsed() / 1000;
    },
  };
}
