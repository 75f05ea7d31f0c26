/** Dead letters: requests that were given up, one per object, with what an operator needs to judge them. */
import { z } from "zod";
import type { Bus } from "../connect.ts";
import { type LastValue, lastValuesOf } from "../lastvalues.ts";
import { isOvertaken } from "../overtaken.ts";
import { type ObjectKey, parseKeySubject, type QueueScope, streams, work } from "../subjects.ts";
import { publishUntilAnswered } from "./publish.ts";
import type { TicketQueue } from "./queue.ts";
import { causeSchema, newRequest } from "./request.ts";

/** What a dead letter says. */
export const deadLetterSchema = z.object({
  /** CamelCase word: `WorkerCrashed`, `RetriesExhausted`, or the reason of a TerminalError. */
  reason: z.string(),
  message: z.string(),
  stack: z.string().optional(),
  attempts: z.int().min(0),
  cause: causeSchema,
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
  /** Stores a letter; replaces an older one of the same object. */
  put(key: ObjectKey, letter: DeadLetter): Promise<void>;
  get(key: ObjectKey): Promise<DeadLetter | undefined>;
  list(): Promise<AddressedDeadLetter[]>;
  /** Takes a letter away, if there is one: the object was reconciled after all. */
  remove(key: ObjectKey): Promise<void>;
  /**
   * Asks for the reconcile of a letter's object again and takes the letter away: this one, and not the one that the
   * worker may have written by then, because it gave up again.
   */
  replay(queue: TicketQueue, key: ObjectKey): Promise<void>;
  /**
   * Counts a start of a reconcile whose predecessor never ended. A worker that survives calls
   * {@link DeadLetters.survived}; one that is killed by the object can not.
   */
  countStart(key: ObjectKey): Promise<CountedStart>;
  /** The process lives: so many starts are left to be counted, unless another worker has counted one since. */
  survived(key: ObjectKey, start: CountedStart, left: number): Promise<void>;
}

/** A start that was counted. */
export interface CountedStart {
  /** How many there were before it, of which nobody came back. */
  readonly before: number;
  /** Position of its count in the stream. */
  readonly sequence: number;
}

/** An old crash says nothing about the object of today. NATS duration text. */
const crashTtl = "1h";

/**
 * How long the empty message stays that is put in place of one that is taken away: the shortest that there is. Deleting
 * and purging are not for functions, whose letters all lie in one stream.
 */
const emptyTtl = "1s";

/** The letter in a text. One that this version can not read is still there to be seen, and replayed. */
function letterIn(text: string): DeadLetter {
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
    return [{ ...parseKeySubject(subject), letter: letterIn(text) }];
  } catch {
    return [];
  }
}

/** What is no count says nothing about an object. */
const countIn = (text: string): number => (/^\d{1,6}$/.test(text) ? Number(text) : 0);

/** Opens the dead letters of a function. */
export function deadLetters(bus: Pick<Bus, "inbox" | "stuck" | "jsm">, scope: QueueScope): DeadLetters {
  const lastValues = lastValuesOf(bus, streams.deadLetters);

  /** The last message on a subject, unless it only says that there is none any more. */
  async function last(subject: string) {
    const message = await bus.jsm.direct.getMessage(streams.deadLetters, { last_by_subj: subject });
    return message === null || message.data.length === 0 ? undefined : message;
  }

  /** Replaces the message of that sequence, and not one that has replaced it meanwhile. */
  async function replace(subject: string, sequence: number, text: string, ttl: string): Promise<void> {
    try {
      await publishUntilAnswered(bus, subject, text, { lastSubjectSequence: sequence, ttl });
    } catch (error) {
      if (!isOvertaken(error)) throw error;
    }
  }

  const takeAway = (subject: string, sequence: number): Promise<void> =>
    replace(subject, sequence, "", emptyTtl);

  return {
    async put(key, letter) {
      await publishUntilAnswered(bus, work.deadLetter(scope, key), JSON.stringify(letter));
    },
    async get(key) {
      const message = await last(work.deadLetter(scope, key));
      return message && letterIn(message.string());
    },
    async list() {
      return (await lastValues(work.deadLetters(scope))).flatMap(addressed);
    },
    async remove(key) {
      const subject = work.deadLetter(scope, key);
      const message = await last(subject);
      if (message !== undefined) await takeAway(subject, message.seq);
    },
    async replay(queue, key) {
      const subject = work.deadLetter(scope, key);
      const letter = await last(subject);
      await queue.request(key, newRequest({ type: "replay" }));
      if (letter !== undefined) await takeAway(subject, letter.seq);
    },
    async countStart(key) {
      const subject = work.crashes(scope, key);
      const before = await last(subject);
      const count = before === undefined ? 0 : countIn(before.string());
      const sequence = await publishUntilAnswered(bus, subject, String(count + 1), { ttl: crashTtl });
      return { before: count, sequence };
    },
    async survived(key, { sequence }, left) {
      const subject = work.crashes(scope, key);
      await (left === 0 ? takeAway(subject, sequence) : replace(subject, sequence, String(left), crashTtl));
    },
  };
}
