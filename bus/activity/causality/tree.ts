/** The causal history as a tree: an origin, and all reconciles that followed. Pure. */
import type { StoredActivity } from "../stream.ts";
import { type CausalGraph, type CausalLink, type Caused, isSameOrigin, type Origin } from "./links.ts";

/** An origin with everything that followed. */
export interface CausalTree {
  readonly origin: Origin;
  readonly threads: readonly CausalThread[];
  /** Reconciles that followed, but are not in the tree: it reached its limit. */
  readonly omitted: number;
}

/** Runs of one function for one object, from one cause on: the first one, and its retries and timers. */
export interface CausalThread {
  /** What caused the first run; undefined for the origin of the tree. */
  readonly link: CausalLink | undefined;
  /** Oldest first. */
  readonly runs: readonly CausalRun[];
}

/** A step of a thread. */
export type CausalRun =
  | {
      readonly type: "reconcile";
      readonly activity: StoredActivity;
      /** What its writes caused, oldest first. */
      readonly threads: readonly CausalThread[];
    }
  /** Successive runs of a timer that changed nothing. */
  | { readonly type: "quiet"; readonly runs: readonly [StoredActivity, ...StoredActivity[]] };

const linkIn = (caused: Caused): CausalLink | undefined => ("by" in caused ? caused : undefined);

/** The record and cause at the beginning. */
export interface Beginning {
  readonly origin: Origin;
  /** The reconcile that the origin triggered. */
  readonly first: StoredActivity;
}

/** Follows the causes of a record backwards, always that which triggered the reconcile. */
export function beginningOf(graph: CausalGraph, record: StoredActivity): Beginning {
  const seen = new Set<StoredActivity>();
  let first = record;
  for (;;) {
    seen.add(first);
    const [caused = { type: "unknown" }] = graph.causesOf(first);
    const link = linkIn(caused);
    if (link === undefined) return { origin: caused as Origin, first };
    if (seen.has(link.by)) return { origin: { type: "unknown" }, first };
    first = link.by;
  }
}

/** The place of a record in the tree: below the origin, or linked to another record. */
type Place = CausalLink | "origin";

/** Options of a tree. */
export interface TreeOptions {
  /** Maximum number of reconciles that are not quiet. */
  readonly limit: number;
  /** This record follows from the origin, even if that cannot be compared, such as a timer. */
  readonly first?: StoredActivity;
  /** This record is in the tree even beyond the limit, if it is connected. */
  readonly focus?: StoredActivity;
}

/**
 * Everything that followed from an origin. A reconcile with several causes is placed below the first one that belongs to the
 * tree.
 */
export function causalTree(graph: CausalGraph, origin: Origin, options: TreeOptions): CausalTree {
  const { first } = options;
  const isFirst = (record: StoredActivity, caused: Caused): boolean =>
    record === first || (!("by" in caused) && isSameOrigin(caused, origin));
  const members = membersOf(graph, isFirst);
  const places = new Map<StoredActivity, Place>();
  for (const record of graph.records) {
    if (!members.has(record)) continue;
    const place = placeOf(graph, record, members, isFirst);
    if (place !== undefined) places.set(record, place);
  }
  const kept = keptOf(places, options);
  return { origin, threads: threadsOf(kept), omitted: places.size - kept.size };
}

type IsFirst = (record: StoredActivity, caused: Caused) => boolean;

/** All records that are connected to the origin. */
function membersOf(graph: CausalGraph, isFirst: IsFirst): ReadonlySet<StoredActivity> {
  const members = new Set<StoredActivity>();
  const followers = new Map<StoredActivity, StoredActivity[]>();
  for (const record of graph.records)
    for (const caused of graph.causesOf(record)) {
      if (isFirst(record, caused)) members.add(record);
      const by = linkIn(caused)?.by;
      if (by === undefined) continue;
      const others = followers.get(by);
      if (others === undefined) followers.set(by, [record]);
      else others.push(record);
    }
  // A set that grows is iterated to its end.
  for (const member of members) for (const follower of followers.get(member) ?? []) members.add(follower);
  return members;
}

function placeOf(
  graph: CausalGraph,
  record: StoredActivity,
  members: ReadonlySet<StoredActivity>,
  isFirst: IsFirst,
): Place | undefined {
  for (const caused of graph.causesOf(record)) {
    if (isFirst(record, caused)) return "origin";
    const link = linkIn(caused);
    if (link !== undefined && members.has(link.by)) return link;
  }
  return undefined;
}

const isContinuation = (place: Place): boolean => place !== "origin" && place.type === "continuation";

type Places = ReadonlyMap<StoredActivity, Place>;

/** The oldest records up to the limit, quiet ones in any number, and the way to the focus. */
function keptOf(places: Places, { limit, focus }: TreeOptions): Places {
  const kept = new Map<StoredActivity, Place>();
  let count = 0;
  for (const [record, place] of places) {
    if (!isQuiet(record, place)) count += 1;
    if (count > limit) break;
    kept.set(record, place);
  }
  for (let record = focus; record !== undefined && !kept.has(record); ) {
    const place = places.get(record);
    if (place === undefined) break;
    kept.set(record, place);
    record = place === "origin" ? undefined : place.by;
  }
  return kept;
}

function isQuiet({ record }: StoredActivity, place: Place): boolean {
  const { outcome, causes, writes, moreWrites, moreCauses, error } = record;
  return (
    isContinuation(place) &&
    causes.every(({ type }) => type === "timer") &&
    writes.length + moreWrites + moreCauses === 0 &&
    error === undefined &&
    ["success", "requeue_after"].includes(outcome)
  );
}

function threadsOf(places: Places): readonly CausalThread[] {
  const children = Map.groupBy(places, ([, place]) => (place === "origin" ? undefined : place.by));
  const childrenOf = (parent: StoredActivity | undefined) => children.get(parent) ?? [];

  const threadsBelow = (parent: StoredActivity | undefined): readonly CausalThread[] =>
    childrenOf(parent)
      .filter(([, place]) => !isContinuation(place))
      .map(([record, place]) => ({ link: place === "origin" ? undefined : place, runs: runsFrom(record) }));

  function runsFrom(record: StoredActivity): readonly CausalRun[] {
    const runs: CausalRun[] = [];
    for (let next: StoredActivity | undefined = record; next !== undefined; ) {
      const last = runs.at(-1);
      if (!isQuiet(next, places.get(next) ?? "origin"))
        runs.push({ type: "reconcile", activity: next, threads: threadsBelow(next) });
      else if (last?.type === "quiet") runs[runs.length - 1] = { type: "quiet", runs: [...last.runs, next] };
      else runs.push({ type: "quiet", runs: [next] });
      next = childrenOf(next).find(([, place]) => isContinuation(place))?.[0];
    }
    return runs;
  }

  return threadsBelow(undefined);
}
