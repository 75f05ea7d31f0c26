/** Webhooks of the last three days: listing and replaying them. */

import { attribute } from "../events/attributes.ts";
import type { Bus } from "../nats/connect.ts";
import { type LastValue, readAll, readFrom } from "../nats/lastvalues.ts";
import { publishAnswered } from "../queue/publish.ts";
import { parseWebhookSubject, streams, type WebhookAddress, webhookSubjects } from "../subjects.ts";

/** A delivery on the bus. */
export interface StoredDelivery extends WebhookAddress {
  /** GitHub's id of the delivery. */
  readonly delivery: string;
  /** The event's type: `com.github.pull_request.opened`. */
  readonly type: string;
  /** The event's subject: a ref, or the number of a pull request. */
  readonly subject: string;
  /** Time of storage: RFC 3339. */
  readonly time: string;
  /** Position in WEBHOOKS. */
  readonly sequence: number;
  /** The stored fields of the payload, as JSON. */
  readonly data: string;
  readonly message: LastValue;
}

/** Selects deliveries. */
export interface DeliveryQuery extends Partial<Pick<WebhookAddress, "event" | "owner" | "repository">> {
  readonly since: Date;
  readonly until?: Date | undefined;
  readonly delivery?: string | undefined;
}

/** The matching deliveries, the oldest first. Skips messages that the gateway did not write. */
export async function* deliveries(
  bus: Pick<Bus, "inbox">,
  { since, until, delivery, ...at }: DeliveryQuery,
): AsyncGenerator<StoredDelivery> {
  for await (const message of readAll(bus, streams.webhooks, { filter: webhookSubjects(at), from: since })) {
    if (until !== undefined && Date.parse(message.time) >= until.getTime()) return;
    const found = deliveryIn(message);
    if (found !== undefined && (delivery === undefined || found.delivery === delivery)) yield found;
  }
}

/** Longest time from a webhook to a reconcile that it causes, including retries. Milliseconds. */
export const webhookMillis = 2 * 3_600_000;

/** The delivery at a position in WEBHOOKS; undefined if it is not kept anymore. */
export async function deliveryAt(
  bus: Pick<Bus, "inbox">,
  sequence: number,
): Promise<StoredDelivery | undefined> {
  const place = { filter: webhookSubjects({}), from: sequence, limit: 1 };
  const [message] = await readFrom(bus, streams.webhooks, place);
  return message?.sequence === sequence ? deliveryIn(message) : undefined;
}

function deliveryIn(message: LastValue): StoredDelivery | undefined {
  const { subject, time, sequence, headers } = message;
  const delivery = attribute(headers, "id");
  try {
    return {
      ...parseWebhookSubject(subject),
      delivery,
      type: attribute(headers, "type"),
      subject: attribute(headers, "subject"),
      time,
      sequence,
      data: message.string(),
      message,
    };
  } catch {
    return undefined;
  }
}

/** Publishes a delivery again, so that functions process it again. */
export async function replayDelivery(
  bus: Pick<Bus, "inbox" | "stuck">,
  { message, delivery }: StoredDelivery,
): Promise<void> {
  const headers = message.headers;
  // The server's own headers, and the id that would make it a duplicate.
  for (const name of headers?.keys() ?? []) if (name.startsWith("Nats-")) headers?.delete(name);
  const messageId = `${delivery}@replay-${Date.now()}`;
  await publishAnswered(bus, message.subject, message.string(), { headers, messageId });
}
