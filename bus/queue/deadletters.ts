/** Dead letters: requests that were given up, one per object, with what an operator needs to judge them. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Bus } from "../connect.ts";
import { compareVersions } from "../kube/object.ts";
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
   * Notes a start of a reconcile whose predecessor never ended. A worker that lives on calls
   * {@link DeadLetters.takeBackStart} or {@link DeadLetters.forgetStarts}; one that is killed by the object can not. It reads
   * the object at this version at least.
   */
  noteStart(key: ObjectKey, version?: VersionOfObject): Promise<NotedStart>;
  /** The process lives: takes its start back, and no other's. */
  takeBackStart(key: ObjectKey, start: NotedStart): Promise<void>;
  /** A reconcile came to its end, whatever that was: all starts are history. */
  forgetStarts(key: ObjectKey): Promise<void>;
}

/** A start that was noted. */
export interface NotedStart {
  /** Tells it from the others. */
  readonly id: string;
  /** How many there were before it, of which nobody came back. */
  readonly before: number;
  /** The newest version that those had read for certain. */
  readonly killing: VersionOfObject | undefined;
}

/** A version of an object. */
export type VersionOfObject = z.infer<typeof versionSchema>;

/** An old crash says nothing about the object of today. NATS duration text. */
const crashTtl = "1h";

/**
 * How long the empty message stays that is put in place of one that is taken away: the shortest that there is. Deleting
 * and purging are not for functions, whose letters all lie in one stream.
 */
const emptyTtl = "1s";
const overtakenMillis = 20;

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

const versionSchema = z.object({ uid: z.string(), resourceVersion: z.string() });
const startsSchema = z.array(z.object({ id: z.string(), version: versionSchema.optional() }));
type Start = z.infer<typeof startsSchema>[number];

/** The starts in a text. What can not be read says nothing about an object. */
function startsIn(text: string): Start[] {
  try {
    return startsSchema.parse(JSON.parse(text));
  } catch {
    return [];
  }
}

/** The newest of versions, none of which need be known. */
export function newestOf(versions: readonly (VersionOfObject | undefined)[]): VersionOfObject | undefined {
  const known = versions.filter((version) => version !== undefined);
  return known.sort((a, b) => compareVersions(a.resourceVersion, b.resourceVersion)).at(-1);
}

/** Opens the dead letters of a function. */
export function deadLetters(bus: Pick<Bus, "inbox" | "stuck" | "jsm">, scope: QueueScope): DeadLetters {
  const lastValues = lastValuesOf(bus, streams.deadLetters);

  const messageOn = (subject: string) =>
    bus.jsm.direct.getMessage(streams.deadLetters, { last_by_subj: subject });

  /** The last message on a subject, unless it only says that there is none any more. */
  async function last(subject: string) {
    const message = await messageOn(subject);
    return message === null || message.data.length === 0 ? undefined : message;
  }

  /** Replaces the message of that sequence (0: none), unless somebody else has. An empty text takes it away. */
  async function replace(subject: string, sequence: number, text: string): Promise<"replaced" | "overtaken"> {
    const ttl = text === "" ? emptyTtl : crashTtl;
    try {
      await publishUntilAnswered(bus, subject, text, { lastSubjectSequence: sequence, ttl });
      return "replaced";
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      return "overtaken";
    }
  }

  /** Changes the starts of a key; returns those that there were. */
  async function changeStarts(key: ObjectKey, change: (starts: Start[]) => Start[]): Promise<Start[]> {
    const subject = work.crashes(scope, key);
    for (;;) {
      const message = await messageOn(subject);
      const before = message === null ? [] : startsIn(message.string());
      const after = change(before);
      if (after.length === before.length) return before;
      const text = after.length === 0 ? "" : JSON.stringify(after);
      if ((await replace(subject, message?.seq ?? 0, text)) === "replaced") return before;
      // Another worker was faster, or a replica of the stream lags behind.
      await sleep(overtakenMillis);
    }
  }

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
      if (message !== undefined) await replace(subject, message.seq, "");
    },
    async replay(queue, key) {
      const subject = work.deadLetter(scope, key);
      const letter = await last(subject);
      await queue.request(key, newRequest({ type: "replay" }));
      if (letter !== undefined) await replace(subject, letter.seq, "");
    },
    async noteStart(key, version) {
      const id = randomUUID();
      const others = (starts: Start[]) => starts.filter((start) => start.id !== id);
      // Noted already, where only the answer was lost: it is not a start of another one.
      const starts = await changeStarts(key, (found) => [
        ...others(found),
        { id, ...(version && { version }) },
      ]);
      const before = others(starts);
      return { id, before: before.length, killing: newestOf(before.map((start) => start.version)) };
    },
    async takeBackStart(key, { id }) {
      await changeStarts(key, (starts) => starts.filter((start) => start.id !== id));
    },
    async forgetStarts(key) {
      await changeStarts(key, () => []);
    },
  };
}
