/**
 * Quarantine: tickets that were delivered before and never acknowledged may crash the process. To tell the object that crashes
 * its workers from its innocent neighbors, quarantined jobs start one after the other, and each start has a crash record until
 * its process has survived it.
 *
 * A job that does not end soon lets the next one start, so that a slow or hanging function does not block the others. Its crash
 * record is removed before the next job starts: a crash then counts only against the newcomer. When no more jobs wait, all
 * running ones get a record again. A job that one more crash would move to the dead letters runs alone until it ends.
 *
 * Workers also crash for other reasons, often while a slow reconcile is running. Writes tell the two apart: a reconcile that
 * crashes its worker does so at the same point each time, and has nothing left to write before it. So an object that writes
 * something before each crash gets more chances, though not without limit.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Kind } from "../kube/kind.ts";
import type { Crashes, CrashRecord, CrashRecords } from "../queue/crashrecords.ts";
import { keyText } from "../subjects.ts";
import { TerminalError, workerCrashed } from "./errors.ts";
import { leastVersion } from "./firstread.ts";
import type { Job } from "./job.ts";

/** Dependencies of a quarantine. */
export interface QuarantineOptions {
  readonly crashRecords: CrashRecords;
  /** Number of crashes without a write, after which a request is given up. */
  readonly maxCrashes: number;
  /** The kind of the objects. */
  readonly kind: Kind;
  readonly run: (job: Job) => Promise<void>;
  readonly giveUp: (job: Job, error: TerminalError) => Promise<void>;
}

/** A request that writes something before each crash may crash this many times `maxCrashes`. */
const progressFactor = 3;

/** How long the next job waits for one that does not end. Most objects that crash a worker do so sooner. Milliseconds. */
const turnMillis = 200;

/** Retry interval while the bus cannot be reached, in milliseconds, and the number of tries. */
const retryPause = { millis: 1000, tries: 60 };

/** A quarantined job that is running. */
interface RunningJob {
  readonly job: Job;
  /** Its crash record, unless that was removed. */
  record: Promise<CrashRecord | undefined>;
}

/** Opens the quarantine of one function in one process; the result runs a job in its turn. */
export function quarantine(options: QuarantineOptions): (job: Job) => Promise<void> {
  const opened = new Quarantine(options);
  return (job) => opened.enter(job);
}

class Quarantine {
  readonly #options: QuarantineOptions;
  /** Resolves when the next job may start. */
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;
  readonly #running = new Set<RunningJob>();

  constructor(options: QuarantineOptions) {
    this.#options = options;
  }

  async enter(job: Job): Promise<void> {
    this.#waiting++;
    const started = this.#turn.then(() => {
      this.#waiting--;
      return this.#start(job);
    });
    this.#turn = started.then(
      () => undefined,
      () => undefined,
    );
    await (await started).ended;
  }

  /** Starts a job; resolves when the next one may start. */
  async #start(job: Job): Promise<{ readonly ended: Promise<void> }> {
    job.ticket.assertOwned();
    await Promise.all([...this.#running].map((one) => this.#removeRecord(one)));
    const record = await this.#addRecord(job);
    const one: RunningJob = { job, record: Promise.resolve(record) };
    this.#running.add(one);
    void job.firstWrite.then(() => this.#recordWrite(one));
    const ended = this.#run(one, record);
    const settled = ended.catch(() => undefined);
    const { all, withoutWrite } = record.before;
    const isLastChance = this.#isCrashLoop({ all: all + 1, withoutWrite: withoutWrite + 1 });
    await (isLastChance ? settled : Promise.race([settled, sleep(turnMillis)]));
    if (this.#waiting === 0) for (const other of this.#running) this.#recordAgain(other);
    return { ended };
  }

  async #run(one: RunningJob, { before, lastRead }: CrashRecord): Promise<void> {
    const { job } = one;
    // An aborted job (a lost bus, a long pause) proves nothing: earlier crashes still count.
    let outcome: "ended" | "aborted" = "aborted";
    try {
      if (!this.#isCrashLoop(before)) await this.#options.run(job);
      else {
        // The crashed workers could not report what they had read.
        if (lastRead) job.seen.set(lastRead.uid, lastRead.resourceVersion);
        await this.#options.giveUp(job, crashLoopError(before.all));
      }
      outcome = "ended";
    } finally {
      this.#running.delete(one);
      // Whatever the outcome, this process has survived.
      void this.#survived(one, outcome);
    }
  }

  #isCrashLoop({ all, withoutWrite }: Crashes): boolean {
    const { maxCrashes } = this.#options;
    return withoutWrite >= maxCrashes || all >= maxCrashes * progressFactor;
  }

  /** Adds a crash record with the version that the job will read. */
  async #addRecord({ key, request, firstRead, writes }: Job): Promise<CrashRecord> {
    const { crashRecords, kind } = this.#options;
    const read = await Promise.race([
      firstRead.catch(() => undefined),
      sleep(turnMillis).then(() => undefined),
    ]);
    return crashRecords.add(key, read && leastVersion(kind, key, request, read), writes > 0);
  }

  async #removeRecord(one: RunningJob): Promise<void> {
    const record = await one.record;
    if (record === undefined) return;
    await this.#options.crashRecords.remove(one.job.key, record);
    one.record = Promise.resolve(undefined);
  }

  async #recordWrite(one: RunningJob): Promise<void> {
    const { job } = one;
    try {
      const record = await one.record;
      if (record !== undefined) await this.#options.crashRecords.wrote(job.key, record);
    } catch (error) {
      job.log.debug({ err: error, key: keyText(job.key) }, "failed to record a write");
    }
  }

  #recordAgain(one: RunningJob): void {
    const { key, log } = one.job;
    one.record = one.record
      .then((record) => record ?? this.#addRecord(one.job))
      .catch((error: unknown) => {
        log.debug({ err: error, key: keyText(key) }, "failed to add a crash record again");
        return undefined;
      });
  }

  /** Removes the job's record, or all records of its object, as soon as the bus can be reached. */
  async #survived({ job, record: pending }: RunningJob, outcome: "ended" | "aborted"): Promise<void> {
    const { crashRecords } = this.#options;
    const record = await pending;
    for (let tries = 0; tries < retryPause.tries; tries++) {
      try {
        if (outcome === "ended") return await crashRecords.clear(job.key);
        if (record !== undefined) await crashRecords.remove(job.key, record);
        return;
      } catch (error) {
        job.log.debug({ err: error, key: keyText(job.key) }, "failed to remove a crash record, retrying");
        await sleep(retryPause.millis);
      }
    }
  }
}

const crashLoopError = (workers: number): TerminalError =>
  new TerminalError(
    workerCrashed,
    `${workers} workers crashed while reconciling this object, so it is quarantined. Check the workers' logs. After you have ` +
      "fixed the cause, change the object's spec or replay the dead letter.",
  );
