/** The state of one ticket in the reconciler. */
import type { Logger } from "pino";
import { keptWrites, type RecordedWrite } from "../activity/record.ts";
import type { Request } from "../queue/request.ts";
import type { ObjectKey } from "../subjects.ts";
import type { Span } from "../tracing/spans.ts";
import type { Echoes } from "./echoes.ts";
import type { FirstRead } from "./firstread.ts";
import type { Ticket } from "./ownership.ts";
import type { Write } from "./writes.ts";

/** One ticket and the state of its reconcile. */
export interface Job {
  readonly ticket: Ticket;
  readonly key: ObjectKey;
  readonly request: Request;
  /** The first read of the attempt, started when the ticket arrived. */
  readonly firstRead: Promise<FirstRead>;
  /** Aborts the attempt and its first read. */
  readonly controller: AbortController;
  /** Versions that the reconcile has seen, by uid. Any other change needs another reconcile. */
  readonly seen: Map<string, string>;
  /** The span of the reconcile, whatever its outcome. */
  readonly span: Span;
  readonly log: Logger;
  /** Called for each write. Its event is an echo, unless the write says otherwise. */
  onWrite(write: Write): void;
  /** The reconcile writes nothing more: sends its pending announcements to the other replicas. */
  endWrites(): void;
  /** Milliseconds since the ticket arrived. */
  millis(): number;
  /** Number of writes so far. */
  readonly writes: number;
  /** The first writes, for the activity record. */
  readonly recordedWrites: readonly RecordedWrite[];
  /** Resolves at the first write; stays pending without one. */
  readonly firstWrite: Promise<void>;
}

/** The parts of a job that are known when its ticket arrives. */
type JobFacts = Omit<Job, "writes" | "recordedWrites" | "firstWrite" | "millis" | "onWrite" | "endWrites">;

/** Creates the job of a ticket that has just arrived. It announces its writes as echoes. */
export function createJob(facts: JobFacts, echoes: Pick<Echoes, "announce" | "end">): Job {
  const { ticket, key } = facts;
  const recordedWrites: RecordedWrite[] = [];
  const firstWrite = Promise.withResolvers<void>();
  const started = performance.now();
  // Without getters, because V8 is slow to create object literals with them.
  const job: Job & { writes: number } = {
    ...facts,
    millis: () => Math.round(performance.now() - started),
    firstWrite: firstWrite.promise,
    writes: 0,
    recordedWrites,
    onWrite({ verb, kind: { group, kind }, namespace, name, uid, resourceVersion, event }) {
      job.writes++;
      const write = { group, kind, namespace, name, resourceVersion };
      if (recordedWrites.length < keptWrites) recordedWrites.push({ verb, ...write });
      firstWrite.resolve();
      // If the event is not an echo, it enqueues the key, and the next reconcile must read at least this version.
      echoes.announce(key, { ...write, uid }, event === "echo" ? ticket.ownedMillis() : 0);
    },
    endWrites: () => echoes.end(key),
  };
  return job;
}

/**
 * Acknowledges the ticket and waits for the server's confirmation. Throws if this worker no longer owns it. Announces the writes
 * first: a replica that routes the event of a write and finds the key free must recognize the event as an echo.
 */
export async function confirm({ ticket, endWrites }: Pick<Job, "ticket" | "endWrites">): Promise<void> {
  ticket.assertOwned();
  endWrites();
  await ticket.delivery.confirmDone();
  ticket.release();
}
