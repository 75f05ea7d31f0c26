/**
 * Spans of messages on the bus. They follow the semantic conventions for messaging as far as these apply.
 * https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/
 */
import type { Attributes } from "@opentelemetry/api";
import { keyText, type ObjectAddress, type ObjectKey, streams, workStream } from "../subjects.ts";
import { type Span, startSpan } from "./spans.ts";

const messaging = (operation: "send" | "process", name: string, destination: string): Attributes => ({
  "messaging.system": "nats",
  "messaging.operation.type": operation,
  "messaging.operation.name": name,
  "messaging.destination.name": destination,
});

/** Names and version of an object. */
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

/** The bridge publishes a change (`added`, `modified`, or `deleted`): a trace starts. */
export const publishSpan = (
  { group, kind }: Pick<ObjectAddress, "group" | "kind">,
  change: string,
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

/** A function's router receives a change and enqueues requests. */
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

/** A webhook arrived at `began` (milliseconds since the epoch). Its sender may have provided a trace. */
export const webhookSpan = (parent: string, began: number): Span =>
  startSpan("receive webhook", {
    kind: "server",
    parent,
    startTime: began,
    attributes: () => ({ "http.request.method": "POST", ...messaging("send", "publish", streams.webhooks) }),
  });

/** Records the answer to a webhook, and the webhook's event. */
export function setWebhook(
  span: Span,
  {
    status,
    outcome,
    provider,
    event,
    delivery,
  }: {
    readonly status: number;
    readonly outcome: string;
    readonly provider: string;
    readonly event?: string;
    readonly delivery?: string;
  },
): void {
  span.set(() => ({
    "http.response.status_code": status,
    "denrei.outcome": outcome,
    "denrei.webhook.provider": provider,
    ...(event !== undefined && { "denrei.webhook.event": event }),
    ...(delivery !== undefined && { "denrei.webhook.delivery": delivery }),
  }));
  if (status >= 500) span.fail(outcome);
}

/** A function's router receives a webhook. */
export const routeWebhookSpan = (
  fn: string,
  {
    provider,
    event,
    delivery,
    traceparent,
  }: {
    readonly provider: string;
    readonly event: string;
    readonly delivery: string;
    readonly traceparent: string | undefined;
  },
): Span =>
  routingSpan(fn, streams.webhooks, traceparent, () => ({
    "denrei.webhook.provider": provider,
    "denrei.webhook.event": event,
    "denrei.webhook.delivery": delivery,
  }));

/** The properties of a reconcile request that its span has. */
export interface Reconciled {
  readonly key: ObjectKey;
  readonly cause: string;
  readonly attempt: number;
  /** Number of deliveries of the ticket. */
  readonly deliveries: number;
  /** The trace of the request. */
  readonly traceparent: string | undefined;
  /** Further causes. */
  readonly links: readonly (string | undefined)[];
}

/** A reconcile, whatever its outcome. */
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
