/** Deliveries of webhooks on the bus: storing them, each once, and waking functions with them. */
import type { CloudEvent } from "cloudevents";
import { type EventMessage, toMessage } from "../events/binding.ts";
import type { Bus } from "../nats/connect.ts";
import { notStored } from "../nats/publishbacklog.ts";
import { publishAnswered } from "../queue/publish.ts";
import { streams, type WebhookAddress, webhookSubject } from "../subjects.ts";

/** What became of a delivery. */
export type Stored = "stored" | "duplicate" | "redelivered";

/** How to store a delivery. */
export interface StoreOptions {
  /** How long it may take altogether. */
  readonly signal: AbortSignal;
  /** The time by the clock of the bus, which stored the first delivery. Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A delivery does not fit into a message of this bus, and never will. */
export class OversizedDeliveryError extends Error {
  override readonly name = "OversizedDeliveryError";
}

/**
 * What comes again this soon was not sent anew: a proxy has repeated the request, whose answer was late. Milliseconds; as long
 * as GitHub waits for an answer.
 */
const repeatedMillis = 10_000;

/** The id of the message, which is no attribute of the event. Bytes. */
const messageIdBytes = 200;
/** A server ends the connection of who publishes on a subject that is longer than its `max_control_line`, 4 KB. */
const longestSubject = 1000;

/**
 * Stores a delivery under its id. One that is there already is not stored again, unless somebody had it delivered again on
 * purpose, some time after the first: then it wakes the functions once more, as it was meant to. Asks until the bus
 * answers; rejects with why it did not when `signal` aborts, with what the bus refuses for good, or with an
 * {@link OversizedDeliveryError}.
 */
export async function storeDelivery(
  bus: Pick<Bus, "inbox" | "stuck" | "jsm" | "nc">,
  at: WebhookAddress,
  event: CloudEvent<unknown>,
  { signal, now }: StoreOptions,
): Promise<Stored> {
  const subject = webhookSubject(at);
  const message = toMessage(event);
  expectFitting(bus, subject, message);
  let failure: Error | undefined;

  const publish = (messageId: string) =>
    publishAnswered(bus, subject, message.data, {
      headers: message.headers,
      messageId,
      signal,
      observe({ error }) {
        failure = error;
      },
    });

  async function store(): Promise<Stored> {
    const first = await publish(event.id);
    if (!first.duplicate) return "stored";
    const time = now();
    const stored = await bus.jsm.direct.getMessage(streams.webhooks, { seq: first.sequence });
    if (stored === null || time - stored.time.getTime() < repeatedMillis) return "duplicate";
    const again = await publish(`${event.id}@${Math.floor(time / repeatedMillis)}`);
    return again.duplicate ? "duplicate" : "redelivered";
  }

  // A question that is under way is not ended by a signal: nobody waits for its answer any more.
  const late = Promise.withResolvers<never>();
  const end = (): void => late.reject(new Error(notStored(failure ?? new Error("no answer came in time"))));
  signal.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([late.promise, store()]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

function expectFitting({ nc }: Pick<Bus, "nc">, subject: string, { headers, data }: EventMessage): void {
  const bytes = Buffer.byteLength(data) + Buffer.byteLength(JSON.stringify([...headers])) + messageIdBytes;
  const limit = nc.info?.max_payload ?? Number.POSITIVE_INFINITY;
  if (bytes > limit)
    throw new OversizedDeliveryError(
      `expected an event of at most ${limit} bytes, found ${bytes}. Raise max_payload of the NATS servers, then have it delivered again.`,
    );
  if (subject.length > longestSubject)
    throw new OversizedDeliveryError(
      `expected a subject of at most ${longestSubject} characters, found ${subject.length}: no repository has such a name.`,
    );
}
