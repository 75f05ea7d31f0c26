/** Webhooks as they are received from the bus: anybody may have written what lies in their place. */
import { attribute } from "../events/attributes.ts";
import {
  isWebhookEventName,
  type WebhookEventName,
  type WebhookPayload,
  webhookPayloads,
} from "../events/github/payloads.ts";
import { MalformedEventError } from "../events/received.ts";
import { parseWebhookSubject } from "../subjects.ts";

/** A webhook of GitHub, as functions see it. */
export interface Webhook<E extends WebhookEventName = WebhookEventName> {
  readonly event: E;
  /** GitHub's id of the delivery. The same webhook may come again, on purpose or not. */
  readonly delivery: string;
  /** Whose repository it is about, in lower case; of an installation its account. */
  readonly owner: string;
  /** The repository's name in lower case; empty where it is about none. */
  readonly repository: string;
  readonly payload: WebhookPayload<E>;
  readonly traceparent: string | undefined;
}

/** Reads a message of WEBHOOKS. Throws {@link MalformedEventError} when it is no webhook of GitHub. */
export function webhookIn(message: {
  readonly subject: string;
  readonly headers: Parameters<typeof attribute>[0];
  string(): string;
}): Webhook {
  const { provider, event, owner, repository } = addressIn(message.subject);
  const delivery = attribute(message.headers, "id");
  if (provider !== "github" || !isWebhookEventName(event) || delivery === "")
    throw new MalformedEventError(
      `expected a webhook of GitHub with the id of its delivery, found the id "${delivery}" in "${message.subject}"`,
    );
  const payload = payloadIn(event, message.string());
  const traceparent = attribute(message.headers, "traceparent") || undefined;
  return { event, delivery, owner, repository, payload, traceparent };
}

function addressIn(subject: string): ReturnType<typeof parseWebhookSubject> {
  try {
    return parseWebhookSubject(subject);
  } catch (error) {
    throw new MalformedEventError((error as Error).message, { cause: error });
  }
}

function payloadIn(event: WebhookEventName, text: string): WebhookPayload<WebhookEventName> {
  try {
    return webhookPayloads[event].parse(JSON.parse(text));
  } catch (error) {
    throw new MalformedEventError(`expected the payload of a ${event}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
