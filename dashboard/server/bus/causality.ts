/** The causal history of an entry. */
import {
  type Bus,
  type CausalEntry,
  type CausalLink,
  type CausalRun,
  type CausalThread,
  causalHistory,
  deliveries,
  deliveryAt,
  type Origin,
  type StoredDelivery,
  webhookMillis,
} from "denrei/bus";
import type * as api from "../../api/causality.ts";
import { apiTime } from "./apivalues.ts";
import { type EntryPosition, reconcileEntry, reconcileId, webhookEntry } from "./entries.ts";

/** Where {@link causalityOf} searches. */
export interface CausalityContext {
  readonly bus: Bus;
  readonly cluster: string;
  readonly functions: readonly string[];
  readonly namespaces: readonly string[] | "every";
}

/** Undefined if the entry is not kept anymore, or the user may not see it. */
export async function causalityOf(
  context: CausalityContext,
  position: EntryPosition,
): Promise<api.CausalHistory | undefined> {
  const webhook = position.type === "webhook" ? await deliveryAt(context.bus, position.sequence) : undefined;
  const entry = position.type === "webhook" ? webhook && entryOf(webhook) : position;
  const history = entry && (await causalHistory(context.bus, context, entry));
  if (history === undefined) return undefined;
  const { threads, before, omitted, isOriginOpen, until } = history;
  // A webhook belongs to the namespaces whose functions it triggered.
  if (webhook !== undefined && threads.length === 0 && context.namespaces !== "every") return undefined;
  const received = webhook ?? (await deliveryOf(context.bus, history.origin, firstOf(threads)));
  return {
    origin: received === undefined ? originOf(history.origin) : webhookEntry(received),
    threads: threads.map(threadOf),
    before: before === undefined ? null : reconcileEntry(before),
    omitted,
    isOriginOpen,
    until: until === undefined ? null : apiTime(until),
  };
}

function entryOf({ provider, event, delivery, time }: StoredDelivery): CausalEntry {
  return { type: "webhook", provider, event, delivery, at: Date.parse(time) };
}

/** The start of the first reconcile. */
function firstOf(threads: readonly CausalThread[]): number | undefined {
  const [run] = threads[0]?.runs ?? [];
  return run?.type === "reconcile" ? run.activity.record.startedAt : undefined;
}

async function deliveryOf(
  bus: Bus,
  origin: Origin,
  startedAt: number | undefined,
): Promise<StoredDelivery | undefined> {
  if (origin.type !== "webhook" || startedAt === undefined) return undefined;
  const { event, delivery } = origin;
  const since = new Date(startedAt - webhookMillis);
  for await (const found of deliveries(bus, { event, delivery, since }))
    if (found.provider === origin.provider) return found;
  return undefined;
}

function originOf(origin: Origin): api.CausalOrigin {
  if (origin.type !== "webhook") return origin;
  const { provider, event, delivery } = origin;
  return { type: "delivery", provider, event, delivery };
}

function threadOf({ link, runs }: CausalThread): api.CausalThread {
  return { link: link === undefined ? null : linkOf(link), runs: runs.map(runOf) };
}

function linkOf(link: CausalLink): api.CausalLink | null {
  if (link.type === "continuation") return null;
  const { type, write } = link;
  return { type, write, resourceVersion: link.type === "outside" ? link.resourceVersion : null };
}

function runOf(run: CausalRun): api.CausalRun {
  if (run.type === "reconcile")
    return { type: "reconcile", entry: reconcileEntry(run.activity), threads: run.threads.map(threadOf) };
  const [first] = run.runs;
  const { function: fn, object, at } = reconcileEntry(first);
  const last = reconcileEntry(run.runs.at(-1) ?? first);
  return { type: "quiet", function: fn, object, ids: run.runs.map(reconcileId), from: at, to: last.at };
}
