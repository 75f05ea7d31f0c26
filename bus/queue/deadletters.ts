/** Dead letters: requests that were given up, one per object, with what an operator needs to judge them. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Bus } from "../nats/connect.ts";
import { type LastValue, lastValuesOf } from "../nats/lastvalues.ts";
import { type ObjectKey, parseKeySubject, type QueueScope, streams, work } from "../subjects.ts";
import { publishUntilAnswered } from "./publish.ts";
import type { TicketQueue } from "./queue.ts";
import { emptyTtl, replaceLast } from "./replacelast.ts";
import { followUp, newRequest, type Request, readCause } from "./request.ts";

/** What a dead letter says. */
export const deadLetterSchema = z.object({
  /** CamelCase word: `WorkerCrashed`, `RetriesExhausted`, or the reason of a TerminalError. */
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
export type DeadLetter = z.infer<typeof deadLetterSchema>;

/** A dead letter and whose it is. */
export interface AddressedDeadLetter extends QueueScope {
  readonly key: ObjectKey;
  readonly letter: DeadLetter;
}

/** The dead letters of one function in one cluster. */
export interface DeadLetters {
  /** Stores a letter; replaces an older one of the same object. `signal` ends the retries. */
  put(key: ObjectKey, letter: DeadLetter, signal?: AbortSignal): Promise<void>;
  get(key: ObjectKey): Promise<DeadLetter | undefined>;
  list(): Promise<AddressedDeadLetter[]>;
  /** Takes a letter away, if there is one: the object was reconciled after all. */
  remove(key: ObjectKey): Promise<void>;
  /**
   * Asks for the reconcile of a letter's object again and takes the letter away: this one, and not the one that the
   * worker may have written by then, because it gave up again.
   */
  replay(queue: Pick<TicketQueue, "requestUnlessOwned">, key: ObjectKey): Promise<void>;
}

/** The letter in a text. One that this version can not read is still there to be seen, and replayed. */
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
      // When it was written nobody says.
      time: new Date(0).toISOString(),
    };
  }
}

/** The letter in a message and whose it is; none where the subject names no object, or only an empty place is kept. */
function addressed({ subject, string }: Pick<LastValue, "subject" | "string">): AddressedDeadLetter[] {
  const text = string();
  if (text === "") return [];
  try {
    return [{ ...parseKeySubject(subject), letter: parseDeadLetter(text) }];
  } catch {
    return [];
  }
}

/** How long an existing ticket may delay a request, and the interval of the attempts. Milliseconds. */
const ticketWait = { longestMillis: 10_000, everyMillis: 250 };

/**
 * Enqueues a request. A worker writes the dead letter before it acknowledges the ticket, so for a moment the ticket may belong to the failed
 * reconcile. A ticket that is still there after that belongs to a later reconcile, or waits for a worker, and replaces the request. No mark
 * is written: the permission to write marks would include timers.
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

  /** The last message on a subject, unless it only says that there is none any more. */
  async function last(subject: string) {
    const message = await bus.jsm.direct.getMessage(streams.deadLetters, { last_by_subj: subject });
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
