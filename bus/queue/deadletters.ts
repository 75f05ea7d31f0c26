/** Dead letters: requests that are no longer retried, one per object, with what an operator needs to diagnose them. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Bus } from "../nats/connect.ts";
import { type LastValue, lastValuesOf } from "../nats/lastvalues.ts";
import { type ObjectKey, parseKeySubject, type QueueScope, streams, work } from "../subjects.ts";
import { publishUntilAnswered } from "./publish.ts";
import type { TicketQueue } from "./queue.ts";
import { emptyTtl, replaceLast } from "./replacelast.ts";
import { followUp, newRequest, type Request, readCause } from "./request.ts";

/** The content of a dead letter. */
export const deadLetterSchema = z.object({
  /** A CamelCase word: `WorkerCrashed`, `RetriesExhausted`, or the reason of a TerminalError. */
  reason: z.string(),
  message: z.string(),
  stack: z.string().optional(),
  attempts: z.int().min(0),
  cause: readCause,
  traceparent: z.string().optional(),
  replica: z.string(),
  /** RFC 3339. */
  time: z.string(),
});
/** A request that is not retried any more, and why. */
export type DeadLetter = z.infer<typeof deadLetterSchema>;

/** A dead letter with its function, cluster, and object. */
export interface AddressedDeadLetter extends QueueScope {
  readonly key: ObjectKey;
  readonly letter: DeadLetter;
}

/** The dead letters of one function in one cluster. */
export interface DeadLetters {
  /** Stores a dead letter; replaces an older one of the same object. `signal` ends the retries. */
  put(key: ObjectKey, letter: DeadLetter, signal?: AbortSignal): Promise<void>;
  get(key: ObjectKey): Promise<DeadLetter | undefined>;
  list(): Promise<AddressedDeadLetter[]>;
  /** Whether there are dead letters. One that was removed within the last second counts. */
  any(): Promise<boolean>;
  /** Removes the dead letter, if any: the object was reconciled after all. */
  remove(key: ObjectKey): Promise<void>;
  /**
   * Requests a reconcile of the object and removes its dead letter, but not a newer one that the worker may have written in
   * the meantime.
   */
  replay(queue: Pick<TicketQueue, "requestUnlessOwned">, key: ObjectKey): Promise<void>;
}

/** Parses a dead letter. One that this version cannot read is still listed, and can be replayed. */
function parseDeadLetter(text: string): DeadLetter {
  try {
    return deadLetterSchema.parse(JSON.parse(text));
  } catch (error) {
    return {
      reason: "Unreadable",
      message: `expected a dead letter, found ${JSON.stringify(text.slice(0, 200))}: ${(error as Error).message}`,
      attempts: 0,
      cause: { type: "replay" },
      replica: "",
      // The time of writing is unknown.
      time: new Date(0).toISOString(),
    };
  }
}

/** The dead letter in a message; empty if the subject names no object, or if the message replaces a removed one. */
function addressed({ subject, string }: Pick<LastValue, "subject" | "string">): AddressedDeadLetter[] {
  const text = string();
  if (text === "") return [];
  try {
    return [{ ...parseKeySubject(subject), letter: parseDeadLetter(text) }];
  } catch {
    return [];
  }
}

/** How long an existing ticket may delay a replay, and the retry interval. Milliseconds. */
const ticketWait = { longestMillis: 10_000, everyMillis: 250 };

/**
 * Enqueues a request. A worker writes the dead letter before it acknowledges the ticket, so for a moment the ticket may belong
 * to the failed reconcile. A ticket that remains after that belongs to a later reconcile, or waits for a worker, and replaces
 * the request. No mark is written: the permission to write marks would include timers.
 */
async function requestReplay(
  queue: Pick<TicketQueue, "requestUnlessOwned">,
  key: ObjectKey,
  request: Request,
): Promise<void> {
  const until = performance.now() + ticketWait.longestMillis;
  while ((await queue.requestUnlessOwned(key, request)) === "owned" && performance.now() < until)
    await sleep(ticketWait.everyMillis);
}

/** Opens the dead letters of a function. */
export function deadLetters(bus: Pick<Bus, "inbox" | "stuck" | "jsm">, scope: QueueScope): DeadLetters {
  const lastValues = lastValuesOf(bus, streams.deadLetters);

  const latest = (subject: string) =>
    bus.jsm.direct.getMessage(streams.deadLetters, { last_by_subj: subject });

  /** The last message on a subject, unless it is the empty one that replaces a removed message. */
  async function last(subject: string) {
    const message = await latest(subject);
    return message === null || message.data.length === 0 ? undefined : message;
  }

  return {
    async put(key, letter, signal) {
      await publishUntilAnswered(bus, work.deadLetter(scope, key), JSON.stringify(letter), { signal });
    },
    async get(key) {
      const message = await last(work.deadLetter(scope, key));
      return message && parseDeadLetter(message.string());
    },
    async list() {
      return (await lastValues(work.deadLetters(scope))).flatMap(addressed);
    },
    async any() {
      return (await latest(work.deadLetters(scope))) !== null;
    },
    async remove(key) {
      const subject = work.deadLetter(scope, key);
      const message = await last(subject);
      if (message !== undefined) await replaceLast(bus, subject, message.seq, "", emptyTtl);
    },
    async replay(queue, key) {
      const subject = work.deadLetter(scope, key);
      const letter = await last(subject);
      const { traceparent: follows } = letter === undefined ? {} : parseDeadLetter(letter.string());
      const request = newRequest({ type: "replay" });
      await requestReplay(queue, key, follows === undefined ? request : followUp(request, follows));
      if (letter !== undefined) await replaceLast(bus, subject, letter.seq, "", emptyTtl);
    },
  };
}
