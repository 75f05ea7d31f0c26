/** Routes changes of objects, and webhooks, into a function's queue. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { MalformedEventError } from "../events/received.ts";
import type { BusClock } from "../nats/busclock.ts";
import type { Delivery } from "../nats/delivery.ts";
import type { Indexes } from "../objects/indexes.ts";
import type { WatchRecords } from "../objects/watchrecords.ts";
import {
  HeldTooLongError,
  handBackLater,
  type PublishDeadline,
  type PublishDeadlineOptions,
  publishDeadline,
} from "../queue/publishdeadline.ts";
import type { TicketQueue } from "../queue/queue.ts";
import { keyText, type ObjectKey } from "../subjects.ts";
import { routeSpan, routeWebhookSpan } from "../tracing/messages.ts";
import { endWithOrigin } from "../tracing/origins.ts";
import { type Span, spanned } from "../tracing/spans.ts";
import type { Webhook } from "../webhooks/provider.ts";
import { webhookIn } from "../webhooks/received.ts";
import type { Echoes } from "./echoes.ts";
import type { ReconcileFunction } from "./function.ts";
import type { WorkerMetrics } from "./metrics.ts";
import { type ObjectEvent, objectEventOf } from "./objectevent.ts";
import {
  type EnqueueRequest,
  enqueueRequestsOf,
  judgeWatches,
  keysOfWebhook,
  type OnInvalidKey,
  type ReadLive,
  type RoutingTools,
  requestOf,
  requestOfWebhook,
} from "./router.ts";
import { RecordChanges } from "./watchrouting.ts";

/** Dependencies of {@link routes}. */
export interface RouteOptions {
  readonly fn: ReconcileFunction;
  readonly queue: TicketQueue;
  readonly echoes: Echoes;
  readonly indexes: Indexes;
  readonly records: WatchRecords;
  readonly live: ReadLive;
  readonly clock: BusClock;
  readonly metrics: WorkerMetrics;
  readonly log: Logger;
  /** How long one message may take. When the signal aborts, messages in flight are handed back. */
  readonly deadline: PublishDeadlineOptions;
}

/** The outcome for a key: nothing (an echo), a ticket, or a mark for its owner. */
type EnqueueOutcome = "echo" | "accepted" | "owned";
type Handle = (delivery: Delivery) => Promise<void>;
type Publish = (delivery: Delivery, deadline: PublishDeadline) => Promise<void>;

/** How long an event of an owned object waits for the owner's announcement. Milliseconds. */
const announcementMillis = 25;
/** Shorter delays are enqueued at once. Milliseconds. */
const minDelayMillis = 500;
/** Keys that are enqueued concurrently. */
const batch = 100;

/** Handlers of a function's messages from OBJECTS and WEBHOOKS. They answer each message and do not throw. */
export function routes(options: RouteOptions): { readonly change: Handle; readonly webhook: Handle } {
  const routing = new Routing(options);
  const change: Publish = (delivery, deadline) => routing.routeChange(delivery, deadline);
  const webhook: Publish = (delivery, deadline) => routing.routeWebhook(delivery, deadline);
  return {
    change: (delivery) => routing.answer(delivery, change),
    webhook: (delivery) => routing.answer(delivery, webhook),
  };
}

class Routing {
  readonly #options: RouteOptions;
  readonly #labels: { readonly name: string };

  constructor(options: RouteOptions) {
    this.#options = options;
    this.#labels = { name: options.fn.name };
  }

  /** Publishes the requests of a message, and answers it. */
  async answer(delivery: Delivery, publish: Publish): Promise<void> {
    const { deadline, log } = this.#options;
    try {
      await publish(delivery, publishDeadline(delivery, deadline));
      delivery.done();
    } catch (error) {
      if (deadline.signal.aborted) return delivery.handBack();
      if (error instanceof MalformedEventError) {
        log.warn({ err: error, subject: delivery.subject }, "not an event of the platform, ignored");
        return delivery.done();
      }
      const isLate = error instanceof HeldTooLongError;
      const level = isLate && delivery.deliveries > 1 ? "debug" : "error";
      log[level]({ err: error, subject: delivery.subject }, "event not routed");
      // Other errors leave the message unanswered: the bus redelivers it to any replica.
      if (isLate) handBackLater(delivery);
    }
  }

  async routeChange(delivery: Delivery, deadline: PublishDeadline): Promise<void> {
    const event = objectEventOf(delivery);
    const span = routeSpan(this.#options.fn.name, event);
    try {
      await this.#enqueueAll(deadline, { ...event, traceparent: span.traceparent }, span);
    } catch (error) {
      span.fail((error as Error).name);
      throw error;
    } finally {
      endWithOrigin(span, event.uid, event.resourceVersion);
    }
  }

  async routeWebhook(delivery: Delivery, deadline: PublishDeadline): Promise<void> {
    const webhook = webhookIn(delivery);
    const span = routeWebhookSpan(this.#options.fn.name, webhook);
    const traced = { ...webhook, traceparent: span.traceparent };
    await spanned(span, () => this.#enqueueWebhook(traced, span, deadline));
  }

  async #enqueueAll(deadline: PublishDeadline, event: ObjectEvent, span: Span): Promise<void> {
    const tools = this.#tools(deadline, event);
    const { records } = this.#options;
    const replace: WatchRecords["replace"] = (at, ordinal, revision, record) =>
      deadline.attempt((signal) => records.replace(at, ordinal, revision, record, signal));
    const results: EnqueueOutcome[] = [];
    let routed = await enqueueRequestsOf(this.#options.fn, event, tools);
    for (;;) {
      const { requests, outcomes } = routed;
      const changes = new RecordChanges(event.at, replace, outcomes);
      await changes.enter();
      const enqueue = (request: EnqueueRequest, signal: AbortSignal) =>
        this.#enqueueInTurn(request, event, signal);
      results.push(...(await inBatches(requests, deadline, enqueue)));
      const overtaken = await changes.finish();
      if (overtaken.length === 0) break;
      routed = await judgeWatches(this.#options.fn, overtaken, event, tools);
    }
    span.set(() => {
      const count = (outcome: EnqueueOutcome) => results.filter((one) => one === outcome).length;
      const [enqueued, marked, echoed] = [count("accepted"), count("owned"), count("echo")];
      return { "denrei.enqueued": enqueued, "denrei.marked": marked, "denrei.echoes": echoed };
    });
  }

  #tools(deadline: PublishDeadline, event: ObjectEvent): RoutingTools {
    const { indexes, records, live } = this.#options;
    return {
      indexes: {
        keep: (key, object) => deadline.attempt((signal) => indexes.keep(key, object, signal)),
        find: indexes.find,
      },
      records: { read: (at, ordinal) => deadline.attempt((signal) => records.read(at, ordinal, signal)) },
      live,
      onInvalidKey: this.#onInvalidKey(event.at),
    };
  }

  /** Reports the mistake of an author, and what it happened for. */
  #onInvalidKey(at: object): OnInvalidKey {
    return (error) => this.#options.log.error({ err: error, at }, "keys returned an invalid key, ignored");
  }

  /** A delayed key becomes a mark that falls due later. */
  async #enqueueInTurn(
    { key, delayMillis }: EnqueueRequest,
    event: ObjectEvent,
    signal: AbortSignal,
  ): Promise<EnqueueOutcome> {
    if (delayMillis < minDelayMillis) return this.#enqueue(key, event, signal);
    const { queue, clock, metrics } = this.#options;
    await queue.requestAfter(key, requestOf(event, clock), delayMillis, signal);
    metrics.adds.inc(this.#labels);
    return "accepted";
  }

  async #enqueue(key: ObjectKey, event: ObjectEvent, signal: AbortSignal): Promise<EnqueueOutcome> {
    const { echoes, queue, clock, metrics } = this.#options;
    const { uid, resourceVersion, correction } = event;
    const isEcho = () => !correction && echoes.has(key, uid, resourceVersion);
    const willBeEcho = async () => !correction && (await echoes.willHave(key, uid, resourceVersion));
    const request = requestOf(event, clock);
    let outcome: EnqueueOutcome =
      isEcho() || (await willBeEcho()) ? "echo" : await queue.requestUnlessOwned(key, request, signal);
    if (outcome === "owned") {
      // Most likely the owner has just written this for the first time, and its announcement is about to arrive.
      await sleep(announcementMillis);
      outcome = isEcho() ? "echo" : await queue.request(key, request, signal);
    }
    const counter = { echo: metrics.echoes, accepted: metrics.adds, owned: metrics.coalesced }[outcome];
    counter.inc(this.#labels);
    return outcome;
  }

  async #enqueueWebhook(webhook: Webhook, span: Span, deadline: PublishDeadline): Promise<void> {
    const { fn, indexes, queue, clock, metrics, log } = this.#options;
    const { provider, event, delivery } = webhook;
    const at = { provider, event, delivery };
    const onMismatch = (problems: readonly string[]) =>
      log.warn({ ...at, problems }, "webhook lacks fields that the function selects");
    const keys = await keysOfWebhook(fn, webhook, indexes, onMismatch, this.#onInvalidKey(at));
    const request = requestOfWebhook(webhook, clock);
    span.set(() => ({ "denrei.enqueued": keys.length }));
    await inBatches(keys, deadline, async (key, signal) => {
      const outcome = await queue.request(key, request, signal);
      (outcome === "accepted" ? metrics.adds : metrics.coalesced).inc(this.#labels);
    });
    metrics.webhooks.inc({ ...this.#labels, provider, event });
    log.debug({ ...at, keys: keys.map(keyText) }, "webhook routed");
  }
}

/** Enqueues many items in batches: all of them together can take longer than a message may be held. */
async function inBatches<T, R>(
  items: readonly T[],
  deadline: PublishDeadline,
  enqueue: (item: T, signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += batch) {
    const some = items.slice(at, at + batch);
    results.push(
      ...(await deadline.attempt((signal) => Promise.all(some.map((item) => enqueue(item, signal))))),
    );
  }
  return results;
}
