/**
 * Crash records: one per start of a reconcile whose ticket was delivered before and never acknowledged. A process that
 * survives removes its record, so a record that remains names an object that may have crashed its worker.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { newestVersion, type ObjectVersion } from "../kube/object.ts";
import type { Bus } from "../nats/connect.ts";
import { type ObjectKey, type QueueScope, streams, work } from "../subjects.ts";
import { emptyTtl, replaceLast } from "./replacelast.ts";

/** The crash records of one function in one cluster. */
export interface CrashRecords {
  /**
   * Records the start of a reconcile that reads at least this version of the object; `wrote` says whether it has already
   * written something. A worker that survives removes the record or clears them all; a crashed one cannot.
   */
  add(key: ObjectKey, version?: ObjectVersion, wrote?: boolean): Promise<CrashRecord>;
  /** Records that the reconcile has written something: if its process dies, the object still made progress. */
  wrote(key: ObjectKey, start: CrashRecord): Promise<void>;
  /** The process survived: removes its own record, and no other. */
  remove(key: ObjectKey, start: CrashRecord): Promise<void>;
  /** A reconcile ended, with whatever outcome: removes all records of the object. */
  clear(key: ObjectKey): Promise<void>;
}

/** Numbers of records whose process never reported back. */
export interface Crashes {
  readonly all: number;
  /** Of those, the ones that had written nothing. */
  readonly withoutWrite: number;
}

/** The record of one start. */
export interface CrashRecord {
  readonly id: string;
  /** Earlier records whose process never reported back. */
  readonly before: Crashes;
  /** The newest version that the earlier records certainly read. */
  readonly lastRead: ObjectVersion | undefined;
}

/** An old crash says nothing about the current object. NATS duration text. */
const crashTtl = "1h";
const retryMillis = 20;

const versionSchema: z.ZodType<ObjectVersion> = z.object({ uid: z.string(), resourceVersion: z.string() });
const recordsSchema = z.array(
  z.object({ id: z.string(), version: versionSchema.optional(), wrote: z.boolean().optional() }),
);
type StoredRecord = z.infer<typeof recordsSchema>[number];

/** Parses records. Unreadable text counts as no records. */
function recordsIn(text: string): StoredRecord[] {
  try {
    return recordsSchema.parse(JSON.parse(text));
  } catch {
    return [];
  }
}

/** Opens the crash records of a function. */
export function openCrashRecords(bus: Pick<Bus, "inbox" | "stuck" | "jsm">, scope: QueueScope): CrashRecords {
  /** Changes the records of a key, unless `to` returns `unchanged`; returns the records from before. */
  async function change(
    key: ObjectKey,
    to: (records: StoredRecord[]) => StoredRecord[] | "unchanged",
  ): Promise<StoredRecord[]> {
    const subject = work.crashes(scope, key);
    for (;;) {
      const message = await bus.jsm.direct.getMessage(streams.deadLetters, { last_by_subj: subject });
      const before = message === null ? [] : recordsIn(message.string());
      const after = to(before);
      if (after === "unchanged") return before;
      const [text, ttl] = after.length === 0 ? ["", emptyTtl] : [JSON.stringify(after), crashTtl];
      if ((await replaceLast(bus, subject, message?.seq ?? 0, text, ttl)) === "replaced") return before;
      // Another worker was faster, or a replica of the stream lags.
      await sleep(retryMillis);
    }
  }

  return {
    async add(key, version, wrote = false) {
      const id = randomUUID();
      const found = await change(key, (records) =>
        // A retry after a lost answer: the record is already stored.
        has(records, id) ? "unchanged" : [...records, { id, version, wrote }],
      );
      const before = without(found, id);
      return {
        id,
        before: { all: before.length, withoutWrite: before.filter((start) => !start.wrote).length },
        lastRead: newestVersion(before.map((start) => start.version)),
      };
    },
    async wrote(key, { id }) {
      await change(key, (records) =>
        has(records, id)
          ? records.map((start) => (start.id === id ? { ...start, wrote: true } : start))
          : "unchanged",
      );
    },
    async remove(key, { id }) {
      await change(key, (records) => (has(records, id) ? without(records, id) : "unchanged"));
    },
    async clear(key) {
      await change(key, (records) => (records.length === 0 ? "unchanged" : []));
    },
  };
}

const has = (records: readonly StoredRecord[], id: string): boolean =>
  records.some((start) => start.id === id);
const without = (records: readonly StoredRecord[], id: string): StoredRecord[] =>
  records.filter((start) => start.id !== id);
