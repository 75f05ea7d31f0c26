/**
 * Records of filtered watches, stored on the bus: what a function last routed of an object that matches one of its watches.
 * With them, any replica can tell whether a projection has changed, or whether an object has left a selector.
 *
 * A record states: all changes of the object up to this message of OBJECTS were requested. A message that directly follows it,
 * with the same projection, requests nothing. OBJECTS keeps only the last version of an object, so versions between two messages
 * may be missing, and the projection may have changed there and back. So every message that does not directly follow the record
 * requests its keys, whatever its projection. A late, older message requests its keys too, and never replaces the record.
 *
 * A router stores the record after the requests. If it dies in between, the message is redelivered and requests again. Only the
 * first record of an object is also stored before them, without a projection: otherwise another replica could find no record when
 * the object leaves the selector at that moment, and request nothing. Objects that do not match have no record, so a match that
 * ends before any router sees it requests nothing.
 */
import { compareVersions } from "../kube/object.ts";
import type { Bus } from "../nats/connect.ts";
import { isWrongSequence } from "../nats/wrongsequence.ts";
import { publishUntilAnswered, untilAnswered } from "../queue/publish.ts";
import { emptyTtl } from "../queue/replacelast.ts";
import { type ObjectAddress, type ObjectKey, type QueueScope, streams } from "../subjects.ts";
import { watched } from "./watchsubjects.ts";

/** What was last routed of a matching object. */
export interface WatchRecord {
  /** Identifies the declaration of the watch. A record of another declaration says nothing about the projection. */
  readonly declaration: string;
  /** Position of the routed message in OBJECTS. */
  readonly sequence: number;
  readonly resourceVersion: string;
  /** Digest of the projection; undefined if it is unknown. */
  readonly projection?: string | undefined;
  /** The requested keys; none if there were more than {@link maxKeys}. */
  readonly keys: readonly ObjectKey[];
}

/** A message of OBJECTS, as a watch sees it. */
export interface WatchedVersion extends Omit<WatchRecord, "keys"> {
  /** Position of the message that this one replaced; 0 for none, undefined if unknown. */
  readonly previous: number | undefined;
  /** Whether the object matches the filters; for a deletion, whether its last known state does. */
  readonly matches: boolean;
  readonly deleted: boolean;
}

/**
 * What to do with a message: whether to request keys, and then with the record. `enter` stores the first record of an object,
 * before and after the requests.
 */
export interface Verdict {
  readonly requests: boolean;
  readonly record: "keep" | "enter" | "replace" | "remove";
}

/** Judges a message by the record of its object. Pure. */
export function judge(record: WatchRecord | undefined, seen: WatchedVersion): Verdict {
  const { matches, deleted } = seen;
  if (record === undefined) return { requests: matches, record: matches && !deleted ? "enter" : "keep" };
  if (isOlder(seen, record)) return { requests: matches, record: "keep" };
  if (deleted || !matches) return { requests: true, record: "remove" };
  if (!isUnchanged(record, seen)) return { requests: true, record: "replace" };
  return { requests: false, record: seen.sequence === record.sequence ? "keep" : "replace" };
}

/** Both must be lower: positions start again when OBJECTS is recreated, and versions may when a cluster is restored. */
const isOlder = (seen: WatchedVersion, record: WatchRecord): boolean =>
  seen.sequence < record.sequence && compareVersions(seen.resourceVersion, record.resourceVersion) < 0;

const isUnchanged = (record: WatchRecord, seen: WatchedVersion): boolean =>
  record.declaration === seen.declaration &&
  record.projection !== undefined &&
  record.projection === seen.projection &&
  (seen.previous === record.sequence || seen.resourceVersion === record.resourceVersion);

/** More keys are not recorded, so that a record fits into a message. */
export const maxKeys = 1000;

/** A record, and its position on the bus. */
export interface StoredWatchRecord {
  readonly record: WatchRecord | undefined;
  /** Position in INDEXES; 0 if the subject has no message. */
  readonly revision: number;
}

/** The records of one function. `ordinal` numbers the filtered watches of a kind. */
export interface WatchRecords {
  read(at: ObjectAddress, ordinal: number, signal?: AbortSignal): Promise<StoredWatchRecord>;
  /**
   * Replaces the record with this revision; undefined removes it. Returns the new revision, or undefined if another replica was
   * faster.
   */
  replace(
    at: ObjectAddress,
    ordinal: number,
    revision: number,
    record: WatchRecord | undefined,
    signal?: AbortSignal,
  ): Promise<number | undefined>;
}

/** Opens the records of a function. */
export function openWatchRecords(bus: Pick<Bus, "inbox" | "stuck" | "jsm">, scope: QueueScope): WatchRecords {
  return {
    async read(at, ordinal, signal) {
      const last_by_subj = watched.record(scope, at, ordinal);
      // From the leader: a replica may lag, and without its record an object would leave its selector unnoticed.
      const found = await untilAnswered(
        () => bus.jsm.streams.getMessage(streams.indexes, { last_by_subj }),
        signal,
      );
      return { record: found ? recordIn(found.string()) : undefined, revision: found?.seq ?? 0 };
    },
    async replace(at, ordinal, lastSubjectSequence, record, signal) {
      const [text, ttl] = record === undefined ? ["", emptyTtl] : [JSON.stringify(record), undefined];
      try {
        const options = { lastSubjectSequence, ttl, signal };
        return await publishUntilAnswered(bus, watched.record(scope, at, ordinal), text, options);
      } catch (error) {
        if (!isWrongSequence(error)) throw error;
        return undefined;
      }
    },
  };
}

/** An empty message is a removed record. */
const recordIn = (text: string): WatchRecord | undefined =>
  text === "" ? undefined : (JSON.parse(text) as WatchRecord);
