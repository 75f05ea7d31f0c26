/** Dead letters: requests that were given up, one per object, with what an operator needs to judge them. */
import { z } from "zod";
import type { Bus } from "../connect.ts";
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
  /** Takes a letter away: the object was reconciled after all. */
  remove(key: ObjectKey): Promise<void>;
  /**
   * Asks for the reconcile of a letter's object again and takes the letter away: this one, and not the one that the
   * worker may have written by then, because it gave up again.
   */
  replay(queue: TicketQueue, key: ObjectKey): Promise<void>;
  /**
   * Counts a start of a reconcile whose predecessor never ended, and returns how many there were. A worker that
   * survives calls {@link DeadLetters.survived}; one that is killed by the object can not.
   */
  countStart(key: ObjectKey): Promise<number>;
  survived(key: ObjectKey): Promise<void>;
}

/** An old crash says nothing about the object of today. NATS duration text. */
const crashTtl = "1h";

/** Opens the dead letters of a function. */
export function deadLetters(bus: Pick<Bus, "inbox" | "jsm">, scope: QueueScope): DeadLetters {
  const last = (subject: string) => bus.jsm.direct.getMessage(streams.deadLetters, { last_by_subj: subject });
  const purge = async (filter: string, before?: number) => {
    await bus.jsm.streams.purge(streams.deadLetters, { filter, ...(before && { seq: before }) });
  };
  return {
    async put(key, letter) {
      await publishUntilAnswered(bus, work.deadLetter(scope, key), JSON.stringify(letter));
    },
    async get(key) {
      const message = await last(work.deadLetter(scope, key));
      return message === null ? undefined : deadLetterSchema.parse(message.json());
    },
    async list() {
      const letters: AddressedDeadLetter[] = [];
      for (let seq = 1; ; ) {
        const page = await bus.jsm.direct.getBatch(streams.deadLetters, {
          seq,
          next_by_subj: work.deadLetters(scope),
          batch: 1000,
        });
        let count = 0;
        try {
          for await (const message of page) {
            letters.push({
              ...parseKeySubject(message.subject),
              letter: deadLetterSchema.parse(message.json()),
            });
            seq = message.seq + 1;
            count++;
          }
        } catch (error) {
          if ((error as { code?: number }).code !== 404) throw error;
        }
        if (count < 1000) return letters;
      }
    },
    remove: (key) => purge(work.deadLetter(scope, key)),
    async replay(queue, key) {
      const subject = work.deadLetter(scope, key);
      const letter = await last(subject);
      await queue.request(key, newRequest({ type: "replay" }));
      if (letter !== null) await purge(subject, letter.seq + 1);
    },
    async countStart(key) {
      const subject = work.crashes(scope, key);
      const before = await last(subject);
      const count = before === null ? 0 : Number(before.string());
      await publishUntilAnswered(bus, subject, String(count + 1), { ttl: crashTtl });
      return count;
    },
    survived: (key) => purge(work.crashes(scope, key)),
  };
}
