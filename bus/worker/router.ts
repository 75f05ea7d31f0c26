/** The router turns events into requests. Pure except for reads, and the same in every replica. */

import { attribute } from "../events/attributes.ts";
import { addressIn, changedObject, changeHead } from "../events/received.ts";
import { markedOwner } from "../kube/clusterchild.ts";
import type { Kind } from "../kube/kind.ts";
import { controllerOf, groupOf, type Stored } from "../kube/object.ts";
import type { BusClock } from "../nats/busclock.ts";
import type { Delivery } from "../nats/delivery.ts";
import type { Indexes } from "../objects/indexes.ts";
import { type Cause, newRequest, type Request } from "../queue/request.ts";
import { keyText, type ObjectAddress, type ObjectKey } from "../subjects.ts";
import type { Webhook } from "../webhooks/provider.ts";
import { selectedBy } from "../webhooks/received.ts";
import type { ReconcileFunction, Watch } from "./function.ts";

/** The parts of an OBJECTS event that routing needs. */
export interface ObjectEvent {
  readonly at: ObjectAddress;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleted: boolean;
  readonly traceparent: string | undefined;
  /** Whether the event has only a part of the object. */
  readonly partial: boolean;
  /** Parses the object. Throws {@link MalformedEventError} if the event contains none. */
  readonly object: () => Stored;
}

/** Reads an object from the API server; undefined when it does not exist. */
export type ReadLive = (kind: Kind, key: ObjectKey) => Promise<Stored | undefined>;

/** Parses a delivery from OBJECTS. Throws {@link MalformedEventError} if it is not an event of the bridge. */
export function objectEventOf(delivery: Delivery): ObjectEvent {
  return {
    ...changeHead(delivery.headers),
    at: addressIn(delivery.subject),
    traceparent: attribute(delivery.headers, "traceparent") || undefined,
    object: () => changedObject(delivery.string()),
  };
}

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
  readonly live: ReadLive;
}

/**
 * The keys that an event enqueues: the object itself, its controller, and the keys from the watches. Before that, an object of
 * the function's own kind is indexed.
 */
export async function enqueueRequestsOf(
  fn: ReconcileFunction,
  event: ObjectEvent,
  { indexes, live }: RoutingTools,
): Promise<EnqueueRequest[]> {
  const requests = new Map<string, EnqueueRequest>();
  function add(key: ObjectKey, delayMillis = 0): void {
    const text = keyText(key);
    if (delayMillis < (requests.get(text)?.delayMillis ?? Number.POSITIVE_INFINITY))
      requests.set(text, { key, delayMillis });
  }
  const { namespace, name, owner } = event.at;
  const key = { namespace, name };
  /** The complete object; undefined if only a part of it still exists. */
  const whole = async (kind: Kind): Promise<Stored | undefined> => {
    if (!event.partial) return event.object();
    return event.deleted ? undefined : live(kind, key);
  };
  if (is(fn.for, event.at)) {
    const isIndexed = !event.deleted && Object.keys(fn.indexes).length > 0;
    const object = isIndexed ? await whole(fn.for) : undefined;
    if (object) await indexes.keep(key, object);
    add(key);
  }
  const owned = fn.owns.find((kind) => is(kind, event.at));
  if (owned && namespace === "" && fn.for.scope === "Namespaced") {
    const marked = markedOwner((await whole(owned)) ?? event.object(), fn.for);
    if (marked) add(marked);
  } else if ((owned || fn.ownsListed) && owner !== "") {
    const controller = controllerOf(event.object());
    if (controller && is(fn.for, { group: groupOf(controller.apiVersion), kind: controller.kind })) {
      add({ namespace: fn.for.scope === "Cluster" ? "" : namespace, name: controller.name });
    }
  }
  for (const watch of fn.watches) {
    if (!is(watch.kind, event.at)) continue;
    const keys = await keysOfWatch(watch, event, await whole(watch.kind), indexes);
    const pauseMillis = watch.perSecond === undefined ? 0 : 1000 / watch.perSecond;
    keys.forEach((key, at) => {
      add(key, at * pauseMillis);
    });
  }
  return [...requests.values()];
}

/** Only the metadata of a deleted oversized object remains. A watch that needs more enqueues nothing. */
async function keysOfWatch(
  watch: Watch,
  event: ObjectEvent,
  object: Stored | undefined,
  { find }: Pick<Indexes, "find">,
): Promise<readonly ObjectKey[]> {
  if (object !== undefined) return watch.keys(object, find);
  if (!event.deleted) return [];
  try {
    return await watch.keys(event.object(), find);
  } catch (error) {
    if (error instanceof TypeError) return [];
    throw error;
  }
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
  };
  return { ...newRequest(cause, event.traceparent, clock), routed: true };
}

/**
 * The keys that a webhook enqueues. A trigger whose fields the webhook lacks enqueues none, and is reported: the gateway has stored
 * the webhook for another version of the function, or for another function, so a retry cannot help.
 */
export async function keysOfWebhook(
  fn: Pick<ReconcileFunction, "webhooks">,
  webhook: Webhook,
  { find }: Pick<Indexes, "find">,
  onMismatch: (problems: readonly string[]) => void,
): Promise<readonly ObjectKey[]> {
  const found = new Map<string, ObjectKey>();
  for (const trigger of fn.webhooks) {
    if (trigger.provider.name !== webhook.provider || trigger.event !== webhook.event) continue;
    const selected = selectedBy(trigger, webhook);
    if ("problems" in selected) onMismatch(selected.problems);
    else for (const key of await trigger.keys(selected, find)) found.set(keyText(key), key);
  }
  return [...found.values()];
}

/** The request for a webhook. */
export const requestOfWebhook = ({ event, delivery, traceparent }: Webhook, clock?: BusClock): Request =>
  newRequest({ type: "webhook", event, delivery }, traceparent, clock);
