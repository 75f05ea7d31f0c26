/**
 * Suspects: tickets that were delivered before and never answered. They run one at a time, so that what kills the process
 * is known and its innocent neighbours are not blamed with it, and each start is counted until its process has survived
 * it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { DeadLetters } from "../queue/deadletters.ts";
import { keyText, type ObjectKey } from "../subjects.ts";
import { TerminalError } from "./errors.ts";
import type { Job } from "./job.ts";

/** What becomes of a suspect. */
export interface SuspectOptions {
  readonly letters: DeadLetters;
  /** Workers that may die over one request. */
  readonly maxCrashes: number;
  readonly run: (job: Job) => Promise<void>;
  readonly giveUp: (job: Job, error: TerminalError) => Promise<void>;
}

/** Pauses while the bus can not be reached, in milliseconds, and how many of them. */
const survivedPause = { millis: 1000, tries: 60 };

/** A lane for the suspects of one function in one process. */
export function suspectLane({
  letters,
  maxCrashes,
  run,
  giveUp,
}: SuspectOptions): (job: Job) => Promise<void> {
  let lane: Promise<void> = Promise.resolve();

  async function take(job: Job): Promise<void> {
    job.ticket.assertOwned();
    const crashes = await letters.countStart(job.key);
    try {
      if (crashes < maxCrashes) return await run(job);
      await giveUp(
        job,
        new TerminalError(
          "WorkerCrashed",
          `${crashes} workers died while they reconciled it, so it is left alone. See the workers' logs; after the ` +
            "cause is mended, change the object or replay the dead letter.",
        ),
      );
    } finally {
      // Whatever came of it, this process is alive: a lost bus or a long pause is no crash.
      void survived(job.key, job);
    }
  }

  /** Takes the count back, as soon as the bus can be reached. */
  async function survived(key: ObjectKey, { log }: Job): Promise<void> {
    for (let tries = 0; tries < survivedPause.tries; tries++) {
      try {
        return await letters.survived(key);
      } catch (error) {
        log.debug({ err: error, key: keyText(key) }, "start not taken back yet");
        await sleep(survivedPause.millis);
      }
    }
  }

  return (job) => {
    const turn = lane.then(() => take(job));
    lane = turn.catch(() => undefined);
    return turn;
  };
}
