/** The router turns events into requests. Pure except for reads, and the same in every replica. */
import type { Kind } from "../kube/kind.ts";
import type { Stored } from "../kube/object.ts";
import type { BusClock } from "../nats/busclock.ts";
import type { Indexes } from "../objects/indexes.ts";
import type { WatchRecords } from "../objects/watchrecords.ts";
import { type Cause, newRequest, type Request } from "../queue/request.ts";
import { keyText, type ObjectKey } from "../subjects.ts";
import type { Webhook } from "../webhooks/provider.ts";
import { selectedBy } from "../webhooks/received.ts";
import type { ReconcileFunction } from "./function.ts";
import type { ObjectEvent } from "./objectevent.ts";
import { controllerKey, isFinalizable, isReconciled, recordedWatches } from "./ownfilters.ts";
import { requestedKey } from "./scope.ts";
import { type FilteredWatch, isFiltered, type Watch } from "./watch.ts";
import { keysOfWatch, outcomeOf, type WatchOutcome } from "./watchrouting.ts";

/** Reads an object from the API server; undefined when it does not exist. */
export type ReadLive = (kind: Kind, key: ObjectKey) => Promise<Stored | undefined>;

const is = (kind: Kind, at: { group: string; kind: string }): boolean =>
  kind.kind === at.kind && kind.group === at.group;

/** A key to enqueue. */
export interface EnqueueRequest {
  readonly key: ObjectKey;
  /** Delay after the event, in milliseconds. A watch with `perSecond` spreads its requests over time. */
  readonly delayMillis: number;
}

/** Dependencies of {@link enqueueRequestsOf}. */
export interface RoutingTools {
  readonly indexes: Pick<Indexes, "keep" | "find">;
  readonly records: Pick<WatchRecords, "read">;
  readonly live: ReadLive;
  readonly onInvalidKey: OnInvalidKey;
}

/** Reports a key that no object of the function's kind can have. The other keys are requested. */
export type OnInvalidKey = (error: TypeError) => void;

/** What an event enqueues, and the records of filtered watches to store afterwards. */
export interface Routed {
  readonly requests: readonly EnqueueRequest[];
  readonly outcomes: readonly WatchOutcome[];
}

/** Reads the complete object of an event once; undefined if only a part of it still exists. */
type ReadWhole = (kind: Kind) => Promise<Stored | undefined>;

/** The keys that an event enqueues, the earliest request of each. */
class Enqueued {
  readonly #requests = new Map<string, EnqueueRequest>();
  readonly #kind: Kind;
  readonly #onInvalid: OnInvalidKey;

  constructor(kind: Kind, onInvalid: OnInvalidKey) {
    this.#kind = kind;
    this.#onInvalid = onInvalid;
  }

  add(requested: ObjectKey, delayMillis = 0): void {
    const key = keyOrReport(this.#kind, requested, this.#onInvalid);
    if (key === undefined) return;
    const text = keyText(key);
    if (delayMillis < (this.#requests.get(text)?.delayMillis ?? Number.POSITIVE_INFINITY))
      this.#requests.set(text, { key, delayMillis });
  }

  addSpread({ perSecond }: Watch, keys: readonly ObjectKey[]): void {
    const pauseMillis = perSecond === undefined ? 0 : 1000 / perSecond;
    keys.forEach((key, at) => {
      this.add(key, at * pauseMillis);
    });
  }

  get all(): EnqueueRequest[] {
    return [...this.#requests.values()];
  }
}

function keyOrReport(kind: Kind, key: ObjectKey, onInvalid: OnInvalidKey): ObjectKey | undefined {
  try {
    return requestedKey(kind, key);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    onInvalid(error);
    return undefined;
  }
}

/**
 * The keys that an event enqueues: the object itself, its controller, and the keys from the watches. Before that, an object of
 * the function's own kind is indexed.
 */
export async function enqueueRequestsOf(
  fn: ReconcileFunction,
  event: ObjectEvent,
  tools: RoutingTools,
): Promise<Routed> {
  const { indexes } = tools;
  const enqueued = new Enqueued(fn.for, tools.onInvalidKey);
  const { namespace, name } = event.at;
  const key = { namespace, name };
  const whole = wholeOf(event, tools.live);
  if (is(fn.for, event.at)) {
    const isIndexed = !event.deleted && Object.keys(fn.indexes).length > 0;
    const object = isIndexed ? await whole(fn.for) : undefined;
    if (object) await indexes.keep(key, object);
    if (await requestsItself(fn, event, whole)) enqueued.add(key);
  }
  const owner = await ownerOf(fn, event, whole);
  if (owner) enqueued.add(owner);
  for (const watch of fn.watches) {
    if (isFiltered(watch) || !is(watch.kind, event.at)) continue;
    const keys = await keysOfWatch(watch, event, await whole(watch.kind), indexes.find);
    enqueued.addSpread(watch, keys);
  }
  const filtered = recordedWatches(fn).filter(({ watch }) => is(watch.kind, event.at));
  const { requests, outcomes } = await judgeWatches(fn, filtered, event, tools, whole);
  for (const { key, delayMillis } of requests) enqueued.add(key, delayMillis);
  return { requests: enqueued.all, outcomes };
}

/** Judges an event by the records of filtered watches: at first, and again when another replica has replaced a record. */
export async function judgeWatches(
  fn: Pick<ReconcileFunction, "for">,
  filtered: readonly FilteredWatch[],
  event: ObjectEvent,
  { indexes, records, live, onInvalidKey }: RoutingTools,
  whole: ReadWhole = wholeOf(event, live),
): Promise<Routed> {
  const enqueued = new Enqueued(fn.for, onInvalidKey);
  const outcomes: WatchOutcome[] = [];
  for (const one of filtered) {
    const object = await whole(one.watch.kind);
    const record = await records.read(event.at, one.ordinal);
    const outcome = await outcomeOf(one, event, object, record, indexes.find);
    enqueued.addSpread(one.watch, outcome.keys);
    outcomes.push(outcome);
  }
  return { requests: enqueued.all, outcomes };
}

function wholeOf(event: ObjectEvent, live: ReadLive): ReadWhole {
  const { namespace, name } = event.at;
  let read: Promise<Stored | undefined> | undefined;
  return async (kind) => {
    if (!event.partial) return event.object();
    if (event.deleted) return undefined;
    read ??= live(kind, { namespace, name });
    return read;
  };
}

/** Whether an event of the function's own kind requests its object. A projection of the filter is judged with the watches. */
async function requestsItself(fn: ReconcileFunction, event: ObjectEvent, whole: ReadWhole): Promise<boolean> {
  const { filter, finalizer } = fn;
  // A deleted object leaves timers and dead letters behind.
  if (filter === undefined || event.deleted) return true;
  const object = await whole(fn.for);
  // The rest of an oversized object no longer exists: its deletion follows.
  if (object === undefined) return false;
  return filter.changed === undefined ? isReconciled(fn, object) : isFinalizable(object, finalizer);
}

/** The key of the object's controller, if the function reconciles it. Filtered kinds are judged with the watches. */
async function ownerOf(
  fn: ReconcileFunction,
  event: ObjectEvent,
  whole: ReadWhole,
): Promise<ObjectKey | undefined> {
  const { namespace, owner } = event.at;
  if (fn.ownsFiltered.some(({ kind }) => is(kind, event.at))) return undefined;
  const owned = fn.owns.find((kind) => is(kind, event.at));
  if (owned && namespace === "" && fn.for.scope === "Namespaced")
    return controllerKey(fn.for, (await whole(owned)) ?? event.object());
  return (owned || fn.ownsListed) && owner !== "" ? controllerKey(fn.for, event.object()) : undefined;
}

/** The request for an event. */
export function requestOf(event: ObjectEvent, clock?: BusClock): Request {
  const { group, kind, namespace, name } = event.at;
  const cause: Cause = {
    type: "object",
    group,
    kind,
    namespace,
    name,
    uid: event.uid,
    resourceVersion: event.resourceVersion,
    ...(event.correction && { correction: true }),
  };
  return { ...newRequest(cause, event.traceparent, clock), routed: true };
}

/**
 * The keys that a webhook enqueues. A trigger whose fields the webhook lacks enqueues none, and is reported: the gateway has stored
 * the webhook for another version of the function, or for another function, so a retry cannot help.
 */
export async function keysOfWebhook(
  fn: Pick<ReconcileFunction, "for" | "webhooks">,
  webhook: Webhook,
  { find }: Pick<Indexes, "find">,
  onMismatch: (problems: readonly string[]) => void,
  onInvalidKey: OnInvalidKey,
): Promise<readonly ObjectKey[]> {
  const found = new Enqueued(fn.for, onInvalidKey);
  for (const trigger of fn.webhooks) {
    if (trigger.provider.name !== webhook.provider || trigger.event !== webhook.event) continue;
    const selected = selectedBy(trigger, webhook);
    if ("problems" in selected) onMismatch(selected.problems);
    else for (const key of await trigger.keys(selected, find)) found.add(key);
  }
  return found.all.map(({ key }) => key);
}

/** The request for a webhook. */
export const requestOfWebhook = (webhook: Webhook, clock?: BusClock): Request => {
  const { provider, event, delivery, traceparent } = webhook;
  return newRequest({ type: "webhook", provider, event, delivery }, traceparent, clock);
};
