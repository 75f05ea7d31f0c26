/** What caused a reconcile, in terms of other reconciles. Pure. */
import { compareVersions } from "../../kube/object.ts";
import type { Cause } from "../../queue/request.ts";
import { keyText } from "../../subjects.ts";
import type { ObjectOfKind } from "../history.ts";
import type { StoredActivity } from "../stream.ts";

/** A cause outside of the functions, or one whose record is missing. */
export type Origin =
  | { readonly type: "webhook"; readonly provider: string; readonly event: string; readonly delivery: string }
  /** No function wrote this version: a user or another program did. */
  | { readonly type: "change"; readonly object: ObjectOfKind; readonly resourceVersion: string }
  /** A timer or a replay of which no earlier run is known. */
  | { readonly type: "timer" | "replay" }
  /** The record has no room for its causes. */
  | { readonly type: "unknown" };

/** Connects a reconcile to the one that caused it. */
export type CausalLink =
  /** `by` wrote the version, or deleted the object. */
  | { readonly type: "write"; readonly by: StoredActivity; readonly write: number }
  /** Another program changed an object soon after `by` had written it. This follows from the order only. */
  | {
      readonly type: "outside";
      readonly by: StoredActivity;
      readonly write: number;
      readonly resourceVersion: string;
    }
  /** A timer, a retry, or a replay: the next run of the same function for the same object. */
  | { readonly type: "continuation"; readonly by: StoredActivity };

/** The cause of a reconcile. */
export type Caused = Origin | CausalLink;

/** The records of a search, connected. */
export interface CausalGraph {
  /** By start, oldest first. */
  readonly records: readonly StoredActivity[];
  /** One for each cause, in their order; never empty. The first one triggered the reconcile. */
  causesOf(record: StoredActivity): readonly Caused[];
  /** The run of the same function for the same object before a record. */
  before(record: StoredActivity): StoredActivity | undefined;
}

/** Clocks of workers differ by less. Milliseconds. */
export const clockSkew = 2000;
/** Longest time between a write and a change by another program that counts as its consequence. Milliseconds. */
const outsideMillis = 10 * 60_000;

interface Write {
  readonly by: StoredActivity;
  readonly write: number;
  readonly resourceVersion: string;
  readonly isDeletion: boolean;
}

/** Connects records by the versions that they wrote. */
export function causalGraph(records: readonly StoredActivity[]): CausalGraph {
  const sorted = records.toSorted(
    (a, b) => a.record.startedAt - b.record.startedAt || Number(a.storedAt - b.storedAt),
  );
  const writes = writesByObject(sorted);
  const previous = previousRuns(sorted);
  const ownVersions = new Set(sorted.flatMap(ownVersionsOf));
  const known = new Map<StoredActivity, readonly Caused[]>();

  function ofChange(record: StoredActivity, cause: Cause & { type: "object" }): Caused {
    const { resourceVersion } = cause;
    const before = (writes.get(objectText(cause)) ?? []).filter(
      (write) =>
        write.by !== record &&
        write.by.record.startedAt <= record.record.startedAt + clockSkew &&
        compareVersions(write.resourceVersion, resourceVersion) <= 0,
    );
    // An apply without a change returns the version of an earlier write.
    const exact = before.find((write) => write.resourceVersion === resourceVersion && !write.isDeletion);
    if (exact) return { type: "write", by: exact.by, write: exact.write };
    const last = before.at(-1);
    const isSoon = last !== undefined && requestedAt(record) - endOf(last.by) <= outsideMillis;
    if (isSoon && last.isDeletion) return { type: "write", by: last.by, write: last.write };
    if (isSoon && !ownVersions.has(versionText(cause)))
      return { type: "outside", by: last.by, write: last.write, resourceVersion };
    const { group, kind, namespace, name } = cause;
    return { type: "change", object: { group, kind, namespace, name }, resourceVersion };
  }

  function causeOf(record: StoredActivity, cause: Cause): Caused {
    const by = previous.get(record);
    if (by !== undefined && isContinued(by, record, cause)) return { type: "continuation", by };
    return cause.type === "object" ? ofChange(record, cause) : originOf(cause);
  }

  return {
    records: sorted,
    before: (record) => previous.get(record),
    causesOf(record) {
      const found = known.get(record) ?? record.record.causes.map((cause) => causeOf(record, cause));
      known.set(record, found);
      return found.length > 0 ? found : [{ type: "unknown" }];
    },
  };
}

function originOf(cause: Exclude<Cause, { type: "object" }>): Origin {
  if (cause.type !== "webhook") return { type: cause.type };
  const { type, provider, event, delivery } = cause;
  return { type, provider, event, delivery };
}

/** When the request of a reconcile was made. Milliseconds since the epoch. */
export const requestedAt = ({ record }: StoredActivity): number => record.startedAt - record.waitedMillis;

/** Milliseconds since the epoch. */
export const endOf = ({ record }: StoredActivity): number => record.startedAt + record.tookMillis;

const objectText = ({ group, kind, namespace, name }: ObjectOfKind): string =>
  [group, kind, namespace, name].join(" ");

const versionText = (version: ObjectOfKind & { readonly resourceVersion: string }): string =>
  `${objectText(version)} ${version.resourceVersion}`;

/** The writes of each object, by version. Writes of the same version stay in the order of their records. */
function writesByObject(sorted: readonly StoredActivity[]): ReadonlyMap<string, readonly Write[]> {
  const all = sorted.flatMap((by) =>
    by.record.writes.map((written, write) => ({
      ...{ object: objectText(written), by, write, resourceVersion: written.resourceVersion },
      isDeletion: written.verb === "delete",
    })),
  );
  return new Map(
    [...Map.groupBy(all, ({ object }) => object)].map(([object, writes]) => [
      object,
      writes.toSorted((a, b) => compareVersions(a.resourceVersion, b.resourceVersion)),
    ]),
  );
}

/** The run before each run of a function for an object. */
function previousRuns(sorted: readonly StoredActivity[]): ReadonlyMap<StoredActivity, StoredActivity> {
  const last = new Map<string, StoredActivity>();
  const previous = new Map<StoredActivity, StoredActivity>();
  for (const record of sorted) {
    const place = `${record.fn} ${keyText(record.key)}`;
    const before = last.get(place);
    if (before !== undefined) previous.set(record, before);
    last.set(place, record);
  }
  return previous;
}

/** The versions of its own object that caused the reconcile. */
function ownVersionsOf({ key, record: { group, kind, causes } }: StoredActivity): string[] {
  const own = objectText({ group, kind, ...key });
  return causes.flatMap((cause) =>
    cause.type === "object" && objectText(cause) === own ? [versionText(cause)] : [],
  );
}

const unfinished: readonly string[] = ["retry", "slowed_down", "handed_back", "lost"];

function isContinued(before: StoredActivity, { record }: StoredActivity, cause: Cause): boolean {
  if (cause.type === "timer" || cause.type === "replay") return true;
  const [first] = record.causes;
  const [firstBefore] = before.record.causes;
  return (
    cause === first &&
    unfinished.includes(before.record.outcome) &&
    firstBefore !== undefined &&
    causeText(cause) === causeText(firstBefore)
  );
}

function causeText(cause: Cause): string {
  switch (cause.type) {
    case "object":
      return versionText(cause);
    case "webhook":
      return `${cause.provider} ${cause.delivery}`;
    default:
      return cause.type;
  }
}

/** Whether two origins are the same one. */
export function isSameOrigin(a: Origin, b: Origin): boolean {
  if (a.type === "change")
    return (
      b.type === "change" &&
      a.resourceVersion === b.resourceVersion &&
      objectText(a.object) === objectText(b.object)
    );
  return (
    a.type === "webhook" && b.type === "webhook" && a.provider === b.provider && a.delivery === b.delivery
  );
}
