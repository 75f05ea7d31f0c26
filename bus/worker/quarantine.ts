/**
 * Suspects: tickets that were delivered before and never answered. What kills the process has to be told from its
 * innocent neighbours, so suspects begin one after the other, and each start is noted until its process has survived it.
 *
 * One that does not end soon gives way to the next: a function that hangs, or takes its time, must not keep the others
 * waiting. Its start is taken back before the next one begins, so that only the newcomer is blamed for what comes; when
 * nobody waits any more, all that still run are noted again, and blamed together. Who is to be given up at the next death
 * has the lane until it ends: the last word is spoken about one alone.
 *
 * Workers also die of something else, and a reconcile that takes its time is often under way then. It is told from one that
 * kills by what it writes: what kills dies at the same point each time, and has nothing left to write on the way there. So
 * an object that gets somewhere before each death is suffered longer, though not for ever.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Kind } from "../kube/kind.ts";
import type { Crashes, CrashRecord, CrashRecords } from "../queue/crashrecords.ts";
import { keyText } from "../subjects.ts";
import { TerminalError, workerCrashed } from "./errors.ts";
import type { Job } from "./job.ts";
import { leastVersion } from "./reads.ts";

/** What becomes of a suspect. */
export interface QuarantineOptions {
  readonly crashRecords: CrashRecords;
  /** Workers that may die over one request that wrote nothing before. */
  readonly maxCrashes: number;
  /** Of the objects. */
  readonly kind: Kind;
  readonly run: (job: Job) => Promise<void>;
  readonly giveUp: (job: Job, error: TerminalError) => Promise<void>;
}

/** Workers that may die over a request that writes something each time: so many times `maxCrashes`. */
const progressFactor = 3;

/** How long the next one waits for a suspect that does not end. Most of those that kill do it sooner. Milliseconds. */
const turnMillis = 200;

/** Pauses while the bus can not be reached, in milliseconds, and how many of them. */
const retryPause = { millis: 1000, tries: 60 };

/** A suspect that runs. */
interface QuarantinedJob {
  readonly job: Job;
  /** Its noted start, unless that was taken back. */
  start: Promise<CrashRecord | undefined>;
}

/** A lane for the suspects of one function in one process. */
export function quarantine({
  crashRecords,
  maxCrashes,
  kind,
  run,
  giveUp,
}: QuarantineOptions): (job: Job) => Promise<void> {
  let lane: Promise<void> = Promise.resolve();
  let waiting = 0;
  const running = new Set<QuarantinedJob>();
  const isCrashLoop = ({ all, withoutWrite }: Crashes): boolean =>
    withoutWrite >= maxCrashes || all >= maxCrashes * progressFactor;

  /** Begins with a suspect; resolves when the next one may begin. */
  async function begin(job: Job): Promise<{ readonly ended: Promise<void> }> {
    job.ticket.assertOwned();
    await Promise.all([...running].map(takeBack));
    const start = await note(job);
    const suspect: QuarantinedJob = { job, start: Promise.resolve(start) };
    running.add(suspect);
    void job.firstWrite.then(() => noteWrite(suspect));
    const ended = end(suspect, start);
    const settled = ended.catch(() => undefined);
    const { all, withoutWrite } = start.before;
    const lastChance = isCrashLoop({ all: all + 1, withoutWrite: withoutWrite + 1 });
    await (lastChance ? settled : Promise.race([settled, sleep(turnMillis)]));
    if (waiting === 0) for (const one of running) noteAgain(one);
    return { ended };
  }

  /** Notes a start, and which version it will read. */
  async function note({ key, request, firstRead, writes }: Job): Promise<CrashRecord> {
    const read = await Promise.race([
      firstRead.catch(() => undefined),
      sleep(turnMillis).then(() => undefined),
    ]);
    return crashRecords.add(key, read && leastVersion(kind, key, request, read), writes > 0);
  }

  async function end(suspect: QuarantinedJob, { before, lastRead }: CrashRecord): Promise<void> {
    const { job } = suspect;
    // Broken off (a lost bus, a long pause), it has shown nothing: those who died before are not forgotten.
    let reconcile: "ended" | "broken off" = "broken off";
    try {
      if (!isCrashLoop(before)) await run(job);
      else {
        // Nobody could tell what it had read.
        if (lastRead) job.seen.set(lastRead.uid, lastRead.resourceVersion);
        await giveUp(job, crashLoopError(before.all));
      }
      reconcile = "ended";
    } finally {
      running.delete(suspect);
      // Whatever came of it, this process is alive.
      void survived(suspect, reconcile);
    }
  }

  async function takeBack(suspect: QuarantinedJob): Promise<void> {
    const noted = await suspect.start;
    if (noted === undefined) return;
    await crashRecords.remove(suspect.job.key, noted);
    suspect.start = Promise.resolve(undefined);
  }

  async function noteWrite({ job, start }: QuarantinedJob): Promise<void> {
    try {
      const noted = await start;
      if (noted !== undefined) await crashRecords.wrote(job.key, noted);
    } catch (error) {
      job.log.debug({ err: error, key: keyText(job.key) }, "write not noted");
    }
  }

  function noteAgain(suspect: QuarantinedJob): void {
    const { key, log } = suspect.job;
    suspect.start = suspect.start
      .then((noted) => noted ?? note(suspect.job))
      .catch((error: unknown) => {
        log.debug({ err: error, key: keyText(key) }, "start not noted again");
        return undefined;
      });
  }

  /** Takes the count back, as soon as the bus can be reached. */
  async function survived({ job, start }: QuarantinedJob, reconcile: "ended" | "broken off"): Promise<void> {
    const noted = await start;
    for (let tries = 0; tries < retryPause.tries; tries++) {
      try {
        if (reconcile === "ended") return await crashRecords.clear(job.key);
        if (noted !== undefined) await crashRecords.remove(job.key, noted);
        return;
      } catch (error) {
        job.log.debug({ err: error, key: keyText(job.key) }, "start not taken back yet");
        await sleep(retryPause.millis);
      }
    }
  }

  return async (job) => {
    waiting++;
    const turn = lane.then(() => {
      waiting--;
      return begin(job);
    });
    lane = turn.then(
      () => undefined,
      () => undefined,
    );
    await (await turn).ended;
  };
}

const crashLoopError = (workers: number): TerminalError =>
  new TerminalError(
    workerCrashed,
    `${workers} workers died while they reconciled it, so it is left alone. See the workers' logs; after the ` +
      "cause is mended, change the object's spec or replay the dead letter.",
  );
