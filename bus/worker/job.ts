/** One ticket on its way through the reconciler. */
import type { Logger } from "pino";
import type { RecordedWrite } from "../activity/record.ts";
import type { Request } from "../queue/request.ts";
import type { ObjectKey } from "../subjects.ts";
import type { Span } from "../tracing/spans.ts";
import type { Ticket } from "./ownership.ts";
import type { FirstRead } from "./reads.ts";
import type { Write } from "./writes.ts";

/** What is known about one ticket. */
export interface Job {
  readonly ticket: Ticket;
  readonly key: ObjectKey;
  readonly request: Request;
  /** The first read of the attempt, under way since the ticket arrived. */
  readonly firstRead: Promise<FirstRead>;
  /** Aborts the attempt and its first read. */
  readonly controller: AbortController;
  /** Versions that were read or written, by uid: the newest. What nobody has seen yet has to be reconciled. */
  readonly seen: Map<string, string>;
  /** Of the reconcile, whatever becomes of it. */
  readonly span: Span;
  readonly log: Logger;
  /** Told of each write: what this replica writes for a key that it owns is nobody's news, unless it is said to be. */
  onWrite(write: Write): void;
  /** Sends the other replicas what they have not been told of yet. */
  flushEchoes(): void;
  /** How long it has been under way, in milliseconds. */
  millis(): number;
  /** Writes so far. */
  readonly writes: number;
  /** The first of them, as they are told of. */
  readonly recordedWrites: readonly RecordedWrite[];
  /** Resolves with the first write, if there is one. */
  readonly firstWrite: Promise<void>;
}

/**
 * Gives the ticket back for good, and waits for the server's word. Throws when it is not ours any more. The writes are
 * announced before: whoever routes the event of one, and finds that nobody owns the key, has to know it for an echo.
 */
export async function confirm({ ticket, flushEchoes }: Pick<Job, "ticket" | "flushEchoes">): Promise<void> {
  ticket.assertOwned();
  flushEchoes();
  await ticket.delivery.confirmDone();
  ticket.release();
}
