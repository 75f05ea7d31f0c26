/** Activity records: what a worker did with one request. They hold names, numbers, and an error's message, but no object content. */
import { z } from "zod";
import { type Cause, readCause } from "../queue/request.ts";
import { maxActivityRecordBytes } from "../topology/streams.ts";
import { redacted } from "../values/redact.ts";

/** How a reconcile ended. */
export const outcomes = [
  "success",
  "requeue_after",
  "retry",
  "dead_lettered",
  "slowed_down",
  "handed_back",
  "lost",
] as const;
export type Outcome = (typeof outcomes)[number];

const verbs = ["create", "patch", "apply", "delete", "status"] as const;
export type WriteVerb = (typeof verbs)[number];

const writeSchema = z.object({
  verb: z.enum(verbs),
  group: z.string(),
  kind: z.string(),
  namespace: z.string(),
  name: z.string(),
  /** The resulting version; for a deletion, the deleted version. */
  resourceVersion: z.string(),
});
/** A write that the API server has confirmed. */
export type RecordedWrite = z.infer<typeof writeSchema>;

/** An activity record. Unknown fields of other versions are dropped. */
export const activitySchema = z.object({
  replica: z.string(),
  /** Group and kind of the object; its name is in the subject. */
  group: z.string(),
  kind: z.string(),
  /** The first one made the request. */
  causes: z.array(readCause),
  moreCauses: z.int().min(0).default(0),
  /** Failed attempts before this one. */
  attempt: z.int().min(0),
  /** Milliseconds since the epoch. */
  startedAt: z.number(),
  /** From the request to the start. */
  waitedMillis: z.number().min(0),
  tookMillis: z.number().min(0),
  outcome: z.enum(outcomes),
  /** Delay until the next reconcile, if known. */
  nextInMillis: z.number().min(0).optional(),
  /** The name is a CamelCase word: a reason, or the name of the error class. */
  error: z.object({ name: z.string(), message: z.string() }).optional(),
  writes: z.array(writeSchema).default([]),
  moreWrites: z.int().min(0).default(0),
  /** W3C trace context of the reconcile. */
  traceparent: z.string().optional(),
});
/** The stored record of a reconcile that has ended. */
export type Activity = z.infer<typeof activitySchema>;

/** A reconcile that has ended. */
export interface EndedReconcile
  extends Omit<Activity, "causes" | "moreCauses" | "error" | "writes" | "moreWrites" | "traceparent"> {
  readonly causes: readonly Cause[];
  readonly error?: Pick<Error, "name" | "message">;
  readonly writes: readonly RecordedWrite[];
  /** Total number of writes; `writes` needs no more than {@link keptWrites} of them. */
  readonly writeCount: number;
  readonly traceparent: string;
}

/** Writes that a record lists at most. */
export const keptWrites = 16;
const keptCauses = 8;
const messageLength = 300;

/** The text of a record. Writes and causes that do not fit are counted, but not listed. */
export function recordText(ended: EndedReconcile): string {
  const { causes, error, writes, writeCount, ...facts } = ended;
  for (let room = keptWrites; ; room = Math.floor(room / 2)) {
    const named = { causes: causes.slice(0, Math.min(keptCauses, room)), writes: writes.slice(0, room) };
    const record: Activity = {
      ...facts,
      ...(error && { error: { name: cut(error.name), message: cut(redacted(error.message)) } }),
      causes: named.causes,
      moreCauses: causes.length - named.causes.length,
      writes: named.writes,
      moreWrites: Math.max(writeCount, writes.length) - named.writes.length,
    };
    const text = JSON.stringify(record);
    if (room === 0 || Buffer.byteLength(text) <= maxActivityRecordBytes) return text;
  }
}

const cut = (text: string): string =>
  text.length > messageLength ? `${text.slice(0, messageLength - 1)}…` : text;

/** Parses a record; undefined if the text is not a record. */
export function activityIn(text: string): Activity | undefined {
  try {
    return activitySchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
