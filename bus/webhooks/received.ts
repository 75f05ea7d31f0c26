/** Reads webhooks from the bus. Other clients may have written under the same subjects. */
import { attribute } from "../events/attributes.ts";
import {
  isWebhookEventName,
  type WebhookEventName,
  type WebhookPayload,
  webhookPayloads,
} from "../events/github/payloads.ts";
import { MalformedEventError } from "../events/received.ts";
import { parseWebhookSubject } from "../subjects.ts";

/** A GitHub webhook, as functions receive it. */
export interface Webhook<E extends WebhookEventName = WebhookEventName> {
  readonly event: E;
  /** GitHub's id of the delivery. The same webhook may arrive more than once. */
  readonly delivery: string;
  /** Owner of the repository, in lower case; for an installation, its account. */
  readonly owner: string;
  /** Name of the repository in lower case; empty for events without one. */
  readonly repository: string;
  readonly payload: WebhookPayload<E>;
  readonly traceparent: string | undefined;
}

/** Reads a message of WEBHOOKS. Throws {@link MalformedEventError} if it is not a GitHub webhook. */
export function webhookIn(message: {
  readonly subject: string;
  readonly headers: Parameters<typeof attribute>[0];
  string(): string;
}): Webhook {
  const { provider, event, owner, repository } = addressIn(message.subject);
  const delivery = attribute(message.headers, "id");
  if (provider !== "github" || !isWebhookEventName(event) || delivery === "")
    throw new MalformedEventError(
      `expected a GitHub webhook with the id of its delivery, found the id "${delivery}" in "${message.subject}"`,
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
    throw new MalformedEventError(`not a payload of the event ${event}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
