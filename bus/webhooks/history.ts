/** Webhooks of the last three days: what arrived, and having functions told of it again. */

import { attribute } from "../events/attributes.ts";
import type { Bus } from "../nats/connect.ts";
import { type LastValue, readAll } from "../nats/lastvalues.ts";
import { publishAnswered } from "../queue/publish.ts";
import { parseWebhookSubject, streams, type WebhookAddress, webhookSubjects } from "../subjects.ts";

/** A delivery on the bus. */
export interface StoredDelivery extends WebhookAddress {
  /** GitHub's id. */
  readonly delivery: string;
  /** The event's type: `com.github.pull_request.opened`. */
  readonly type: string;
  /** What it is about: a ref, or the number of a pull request. */
  readonly subject: string;
  /** When it was stored: RFC 3339. */
  readonly time: string;
  /** Position in WEBHOOKS. */
  readonly sequence: number;
  /** The fields that are kept of the payload, as JSON. */
  readonly data: string;
  readonly message: LastValue;
}

/** Which deliveries. */
export interface DeliveryQuery extends Partial<Pick<WebhookAddress, "event" | "owner" | "repository">> {
  readonly since: Date;
  readonly until?: Date | undefined;
  readonly delivery?: string | undefined;
}

/** The deliveries that match, the oldest first. What somebody else has put there is left out. */
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

/** Publishes a delivery once more: whoever it wakes is woken again. */
export async function replayDelivery(
  bus: Pick<Bus, "inbox" | "stuck">,
  { message, delivery }: StoredDelivery,
): Promise<void> {
  const headers = message.headers;
  // The server's own, and the id under which it would be a duplicate.
  for (const name of headers?.keys() ?? []) if (name.startsWith("Nats-")) headers?.delete(name);
  const messageId = `${delivery}@replay-${Date.now()}`;
  await publishAnswered(bus, message.subject, message.string(), { headers, messageId });
}
