/**
 * Spans of what travels over the bus, by the conventions for messaging as far as there are any.
 * https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/
 */
import type { Attributes } from "@opentelemetry/api";
import type { Change } from "../events/attributes.ts";
import type { Kind } from "../kube/kind.ts";
import { keyText, type ObjectAddress, type ObjectKey, streams, workStream } from "../subjects.ts";
import { type Span, startSpan } from "./spans.ts";

const messaging = (operation: "send" | "process", name: string, destination: string): Attributes => ({
  "messaging.system": "nats",
  "messaging.operation.type": operation,
  "messaging.operation.name": name,
  "messaging.destination.name": destination,
});

/** Names of an object, and which version of it is meant. */
const objectAttributes = (
  { group, kind, namespace, name }: Pick<ObjectAddress, "group" | "kind" | "namespace" | "name">,
  resourceVersion: string,
): Attributes => ({
  "denrei.object.group": group,
  "denrei.object.kind": kind,
  ...(namespace !== "" && { "k8s.namespace.name": namespace }),
  "denrei.object.name": name,
  "denrei.object.resource_version": resourceVersion,
});

/** The bridge puts a change on the bus: a trace begins. */
export const publishSpan = (
  { group, kind }: Kind,
  change: Change,
  { namespace, name }: ObjectKey,
  resourceVersion: string,
): Span =>
  startSpan(`publish ${kind}`, {
    kind: "producer",
    attributes: () => ({
      ...messaging("send", "publish", streams.objects),
      ...objectAttributes({ group, kind, namespace, name }, resourceVersion),
      "denrei.change": change,
    }),
  });

const routingSpan = (
  fn: string,
  stream: string,
  parent: string | undefined,
  attributes: () => Attributes,
): Span =>
  startSpan(`route ${fn}`, {
    kind: "consumer",
    parent,
    attributes: () => ({
      ...messaging("process", "route", stream),
      "denrei.function": fn,
      ...attributes(),
    }),
  });

/** A function's router takes a change, and asks for what it wakes. */
export const routeSpan = (
  fn: string,
  {
    at,
    resourceVersion,
    traceparent,
  }: {
    readonly at: ObjectAddress;
    readonly resourceVersion: string;
    readonly traceparent: string | undefined;
  },
): Span => routingSpan(fn, streams.objects, traceparent, () => objectAttributes(at, resourceVersion));

/** A webhook came, at `began` (milliseconds since the epoch), and its sender may have named its trace. */
export const webhookSpan = (parent: string, began: number): Span =>
  startSpan("receive webhook", {
    kind: "server",
    parent,
    startTime: began,
    attributes: () => ({ "http.request.method": "POST", ...messaging("send", "publish", streams.webhooks) }),
  });

/** How a webhook was answered, and what it was. */
export function setWebhook(
  span: Span,
  {
    status,
    outcome,
    event,
    delivery,
  }: {
    readonly status: number;
    readonly outcome: string;
    readonly event?: string;
    readonly delivery?: string;
  },
): void {
  span.set(() => ({
    "http.response.status_code": status,
    "denrei.outcome": outcome,
    ...(event !== undefined && { "denrei.webhook.event": event }),
    ...(delivery !== undefined && { "denrei.webhook.delivery": delivery }),
  }));
  if (status >= 500) span.fail(outcome);
}

/** A function's router takes a webhook. */
export const routeWebhookSpan = (
  fn: string,
  {
    event,
    delivery,
    traceparent,
  }: {
    readonly event: string;
    readonly delivery: string;
    readonly traceparent: string | undefined;
  },
): Span =>
  routingSpan(fn, streams.webhooks, traceparent, () => ({
    "denrei.webhook.event": event,
    "denrei.webhook.delivery": delivery,
  }));

/** What is known of a request for a reconcile. */
export interface Reconciled {
  readonly key: ObjectKey;
  readonly cause: string;
  readonly attempt: number;
  /** How often the ticket was delivered. */
  readonly deliveries: number;
  /** The trace that the request belongs to. */
  readonly traceparent: string | undefined;
  /** What else has caused it. */
  readonly links: readonly (string | undefined)[];
}

/** A function's reconcile, whatever becomes of it. */
export function reconcileSpan(fn: string, { key, traceparent, links, ...request }: Reconciled): Span {
  const span = startSpan(`reconcile ${fn}`, {
    kind: "consumer",
    parent: traceparent,
    attributes: () => ({
      ...messaging("process", "reconcile", workStream(fn)),
      "denrei.function": fn,
      "denrei.key": keyText(key),
      "denrei.cause": request.cause,
      "denrei.attempt": request.attempt,
      "denrei.deliveries": request.deliveries,
    }),
  });
  span.link(...links);
  return span;
}
