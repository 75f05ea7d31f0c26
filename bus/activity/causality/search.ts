/** Finds the causal history of a reconcile or a webhook: what led to it, and what followed. */
import { nanosOf } from "../../nats/busclock.ts";
import type { Bus } from "../../nats/connect.ts";
import { readFrom } from "../../nats/lastvalues.ts";
import { activity, activityStream } from "../../subjects.ts";
import {
  type ActivityScope,
  type ActivityStream,
  activityStreams,
  type BackwardReader,
  filtersOf,
  openBackwards,
  type StoredActivity,
  storedIn,
  textOfNanos,
} from "../stream.ts";
import { type CausalGraph, causalGraph, clockSkew, requestedAt } from "./links.ts";
import { type Beginning, beginningOf, type CausalTree, causalTree } from "./tree.ts";

/** Where a causal history is entered: a reconcile, by its position in its function's stream, or a webhook. */
export type CausalEntry =
  | { readonly type: "reconcile"; readonly function: string; readonly sequence: number }
  | {
      readonly type: "webhook";
      readonly provider: string;
      readonly event: string;
      readonly delivery: string;
      /** When it was received: milliseconds since the epoch. */
      readonly at: number;
    };

/** Limits of a search. */
export interface CausalLimits {
  /** Maximum number of reconciles in the tree, without those that changed nothing. */
  readonly limit?: number;
  /** Maximum number of records to read in each direction. A search may exceed it by one part of each stream. */
  readonly records?: number;
  /** Time limit in each direction, in milliseconds. */
  readonly millis?: number;
}

/** A causal history. */
export interface CausalHistory extends CausalTree {
  /** The run before the one that the origin triggered, of the same function for the same object, if it was read. */
  readonly before: StoredActivity | undefined;
  /** The search ended before older records were read, which may have an earlier cause. */
  readonly isOriginOpen: boolean;
  /** Only records up to this time were read; undefined if all were. Milliseconds since the epoch. */
  readonly until: number | undefined;
}

const defaults = { limit: 500, records: 20_000, millis: 2000 } as const;

/** Undefined if the record of the entry is not kept anymore, or belongs to none of the namespaces. */
export async function causalHistory(
  bus: Pick<Bus, "inbox" | "jsm">,
  scope: ActivityScope,
  entry: CausalEntry,
  limits: CausalLimits = {},
): Promise<CausalHistory | undefined> {
  const all = { ...defaults, ...limits };
  const installed = { ...scope, streams: await activityStreams(bus, scope.functions) };
  return entry.type === "webhook"
    ? historyOfWebhook(bus, installed, entry, all)
    : historyOfReconcile(bus, installed, entry, all);
}

/** A scope with the streams of those functions that are installed. */
interface InstalledScope extends ActivityScope {
  readonly streams: readonly ActivityStream[];
}

async function historyOfWebhook(
  bus: Pick<Bus, "inbox">,
  scope: InstalledScope,
  { type, provider, event, delivery, at }: CausalEntry & { type: "webhook" },
  limits: Required<CausalLimits>,
): Promise<CausalHistory> {
  const { found, until } = await readForward(bus, scope, nanosOfMillis(at), limits);
  const graph = causalGraph(found);
  const tree = causalTree(graph, { type, provider, event, delivery }, { limit: limits.limit });
  return { ...tree, before: undefined, isOriginOpen: false, until: millisOf(until) };
}

async function historyOfReconcile(
  bus: Pick<Bus, "inbox" | "jsm">,
  scope: InstalledScope,
  entry: CausalEntry & { type: "reconcile" },
  limits: Required<CausalLimits>,
): Promise<CausalHistory | undefined> {
  const stored = await recordAt(bus, scope, entry);
  if (stored === undefined) return undefined;
  const { found: later, until } = await readForward(bus, scope, stored.storedAt, limits);
  // The graph connects records by identity.
  const focus = later.find(({ fn, sequence }) => fn === stored.fn && sequence === stored.sequence) ?? stored;
  const { graph, beginning, isOpen } = await readToBeginning(bus, scope, { ...limits, focus, later });
  const { origin, first } = beginning;
  const tree = causalTree(graph, origin, { limit: limits.limit, first, focus });
  return { ...tree, before: graph.before(first), isOriginOpen: isOpen, until: millisOf(until) };
}

const nanosOfMillis = (millis: number): bigint => BigInt(Math.floor(millis)) * 1_000_000n;
const millisOf = (nanos: bigint | undefined): number | undefined =>
  nanos === undefined ? undefined : Number(nanos / 1_000_000n);

async function recordAt(
  bus: Pick<Bus, "inbox">,
  { cluster, streams, namespaces }: InstalledScope,
  { function: fn, sequence }: CausalEntry & { type: "reconcile" },
): Promise<StoredActivity | undefined> {
  if (!streams.some((stream) => stream.fn === fn)) return undefined;
  const at = { filter: activity.everywhere(fn), from: sequence, limit: 1 };
  const [message] = await readFrom(bus, activityStream(fn), at);
  const stored = message?.sequence === sequence ? storedIn(message) : undefined;
  if (stored?.cluster !== cluster) return undefined;
  return namespaces === "every" || namespaces.includes(stored.key.namespace) ? stored : undefined;
}

interface ReadLimits {
  readonly records: number;
  readonly millis: number;
}

/** Messages of one subject to read before the limits are checked again. */
const pageSize = 256;

/** Reads all streams from a time on. `until` is set if the limits ended the read: all records before this time were read. */
async function readForward(
  bus: Pick<Bus, "inbox">,
  scope: InstalledScope,
  at: bigint,
  limits: ReadLimits,
): Promise<{ found: StoredActivity[]; until: bigint | undefined }> {
  const deadline = performance.now() + limits.millis;
  const found: StoredActivity[] = [];
  let open = scope.streams
    .flatMap(({ fn }) => filtersOf(scope).map((filter) => ({ stream: activityStream(fn), filter })))
    .map((place) => ({ ...place, from: textOfNanos(at) as string | number, time: at }));
  while (open.length > 0) {
    const pages = await Promise.all(
      open.map(async (place) => {
        const { stream, filter, from } = place;
        const page = await readFrom(bus, stream, { filter, from, limit: pageSize });
        found.push(...page.map(storedIn).filter((stored) => stored !== undefined));
        const last = page.at(-1);
        if (last === undefined || page.length < pageSize) return [];
        return [{ ...place, from: last.sequence + 1, time: nanosOf(last.time) }];
      }),
    );
    open = pages.flat();
    if (found.length >= limits.records || performance.now() >= deadline) break;
  }
  const until = open.reduce<bigint | undefined>(
    (oldest, { time }) => (oldest === undefined || time < oldest ? time : oldest),
    undefined,
  );
  // Records after this time are known for some streams only.
  return { found: until === undefined ? found : found.filter(({ storedAt }) => storedAt <= until), until };
}

/** Positions of a stream to read first, and at most, before the limits are checked again. */
const firstPositions = 512;
const maxPositions = 8192;

interface BackwardSearch extends ReadLimits {
  readonly focus: StoredActivity;
  /** The records from `focus` on. */
  readonly later: readonly StoredActivity[];
}

/** Reads all streams backwards until the beginning of the history is known. */
async function readToBeginning(
  bus: Pick<Bus, "inbox" | "jsm">,
  scope: InstalledScope,
  { focus, later, records, millis }: BackwardSearch,
): Promise<{ graph: CausalGraph; beginning: Beginning; isOpen: boolean }> {
  const deadline = performance.now() + millis;
  const options = { filters: filtersOf(scope), before: focus.storedAt, read: storedIn };
  const readers = await Promise.all(scope.streams.map((stream) => openBackwards(bus, stream, options)));
  const found: StoredActivity[] = [];
  for (let positions = firstPositions; ; positions = Math.min(maxPositions, 2 * positions)) {
    const parts = await Promise.all(readers.map((reader) => reader.next(positions)));
    found.push(...parts.flat());
    const graph = causalGraph([...found, ...later]);
    const beginning = beginningOf(graph, focus);
    const isOpen = floorOf(readers) > neededFrom(beginning);
    const isOver = found.length >= records || performance.now() >= deadline;
    if (!isOpen || isOver) return { graph, beginning, isOpen };
  }
}

const floorOf = (readers: readonly BackwardReader[]): bigint =>
  readers.map((reader) => reader.floor()).reduce((a, b) => (a > b ? a : b), 0n);

/** The reconcile that wrote a version ends after the write, so its record is not older. All records may have an earlier run. */
function neededFrom({ origin, first }: Beginning): bigint {
  if (origin.type !== "change" && origin.type !== "webhook") return 0n;
  return nanosOfMillis(requestedAt(first) - clockSkew);
}
