/**
 * Suspects: tickets that were delivered before and never answered. They run one at a time, so that what kills the process
 * is known and its innocent neighbours are not blamed with it, and each start is counted until its process has survived
 * it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { DeadLetters, NotedStart } from "../queue/deadletters.ts";
import { keyText } from "../subjects.ts";
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
    const start = await letters.noteStart(job.key);
    // Broken off (a lost bus, a long pause), it has shown nothing: those who died before are not forgotten.
    let reconcile: "ended" | "broken off" = "broken off";
    try {
      if (start.before < maxCrashes) await run(job);
      else await giveUp(job, crashed(start.before));
      reconcile = "ended";
    } finally {
      // Whatever came of it, this process is alive.
      void survived(job, start, reconcile);
    }
  }

  /** Takes the count back, as soon as the bus can be reached. */
  async function survived(
    { key, log }: Job,
    start: NotedStart,
    reconcile: "ended" | "broken off",
  ): Promise<void> {
    for (let tries = 0; tries < survivedPause.tries; tries++) {
      try {
        return await letters.survived(key, start, reconcile);
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

const crashed = (workers: number): TerminalError =>
  new TerminalError(
    "WorkerCrashed",
    `${workers} workers died while they reconciled it, so it is left alone. See the workers' logs; after the ` +
      "cause is mended, change the object or replay the dead letter.",
  );
