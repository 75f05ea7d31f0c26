/** Stores each webhook delivery once on the bus. */
import type { CloudEventV1 } from "cloudevents";
import { type EventMessage, toMessage } from "../events/binding.ts";
import type { Bus } from "../nats/connect.ts";
import { notStored } from "../nats/publishbacklog.ts";
import { publishAnswered } from "../queue/publish.ts";
import { streams, type WebhookAddress, webhookSubject } from "../subjects.ts";

/** The outcome of storing a delivery. */
export type Stored = "stored" | "duplicate" | "redelivered";

/** Options of {@link storeDelivery}. */
export interface StoreOptions {
  /** Aborts when the time is up. */
  readonly signal: AbortSignal;
  /** The bus's clock, by which the first delivery was stored. Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A delivery does not fit into a message of this bus, so a retry cannot help. */
export class OversizedDeliveryError extends Error {
  override readonly name = "OversizedDeliveryError";
}

/**
 * A repetition within this time was not requested: a proxy has repeated a request whose answer was late. Milliseconds; as long
 * as GitHub waits for an answer, and GitLab and Gitea by default.
 */
const repeatedMillis = 10_000;

/** Room for the message id, which is not an attribute of the event. Bytes. */
const messageIdBytes = 300;
/** A server closes a connection that publishes on a subject longer than its `max_control_line`, 4 KB. */
const longestSubject = 1000;

/**
 * Stores a delivery under the id that it has at its hook. A known delivery is not stored again, unless a user requested a
 * redelivery some time after the first: then it enqueues requests once more. Retries until the bus answers. Rejects with the
 * cause when `signal` aborts, with a permanent error of the bus, or with an {@link OversizedDeliveryError}.
 */
export async function storeDelivery(
  bus: Pick<Bus, "inbox" | "stuck" | "jsm" | "nc">,
  at: WebhookAddress & { readonly hook: string },
  event: CloudEventV1<unknown>,
  { signal, now }: StoreOptions,
): Promise<Stored> {
  const subject = webhookSubject(at);
  // Ids are unique only for their sender, and a sender must not be able to displace the deliveries of another.
  const id = `${at.provider}/${at.hook}/${event.id}`;
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
    const first = await publish(id);
    if (!first.duplicate) return "stored";
    const time = now();
    const stored = await bus.jsm.direct.getMessage(streams.webhooks, { seq: first.sequence });
    if (stored === null || time - stored.time.getTime() < repeatedMillis) return "duplicate";
    const again = await publish(`${id}@${Math.floor(time / repeatedMillis)}`);
    return again.duplicate ? "duplicate" : "redelivered";
  }

  // A signal does not abort a pending request; its answer is ignored.
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
  let bytes = Buffer.byteLength(data) + messageIdBytes;
  // Names and values of headers are ASCII. Each line has a colon, a space, and a line break.
  for (const [name, [value = ""]] of headers) bytes += name.length + value.length + 4;
  const limit = nc.info?.max_payload ?? Number.POSITIVE_INFINITY;
  if (bytes > limit)
    throw new OversizedDeliveryError(
      `the event has ${bytes} bytes, more than the limit of ${limit}. Raise max_payload of the NATS servers, then redeliver it.`,
    );
  if (subject.length > longestSubject)
    throw new OversizedDeliveryError(
      `the subject has ${subject.length} characters, more than the limit of ${longestSubject}: no repository has such a name.`,
    );
}
