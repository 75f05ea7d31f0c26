/** Deliveries of webhooks on the bus: storing them, each once, and waking functions with them. */
import type { CloudEvent } from "cloudevents";
import type { Bus } from "../connect.ts";
import { toMessage } from "../events/binding.ts";
import { publishAnswered } from "../queue/publish.ts";
import { streams, type WebhookAddress, webhookSubject } from "../subjects.ts";

/** What became of a delivery. */
export type Stored = "stored" | "duplicate" | "redelivered";

/**
 * What comes again this soon was not sent anew: a proxy has repeated the request, whose answer was late. Milliseconds; as long
 * as GitHub waits for an answer.
 */
const repeatedMillis = 10_000;

/**
 * Stores a delivery under its id. One that is there already is not stored again, unless somebody had it delivered again on
 * purpose, some time after the first: then it wakes the functions once more, as it was meant to. Asks until the bus
 * answers; rejects with the reason of `signal`, or what the bus refuses for good.
 */
export async function storeDelivery(
  bus: Pick<Bus, "inbox" | "stuck" | "jsm">,
  at: WebhookAddress,
  event: CloudEvent<unknown>,
  signal: AbortSignal,
): Promise<Stored> {
  const subject = webhookSubject(at);
  const publish = (messageId: string) => {
    const { headers, data } = toMessage(event);
    return publishAnswered(bus, subject, data, { headers, messageId, signal });
  };
  const first = await publish(event.id);
  if (!first.duplicate) return "stored";
  const now = Date.now();
  const stored = await bus.jsm.direct.getMessage(streams.webhooks, { seq: first.sequence });
  if (stored === null || now - stored.time.getTime() < repeatedMillis) return "duplicate";
  const again = await publish(`${event.id}@${Math.floor(now / repeatedMillis)}`);
  return again.duplicate ? "duplicate" : "redelivered";
}
