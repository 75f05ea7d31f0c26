/** Reads webhooks from the bus. Other clients may have written under the same subjects. */
import { attribute } from "../events/attributes.ts";
import { MalformedEventError } from "../events/received.ts";
import { parseWebhookSubject } from "../subjects.ts";
import { mismatches } from "./malformed.ts";
import type { Webhook, WebhookTrigger } from "./provider.ts";

/** Reads a message of WEBHOOKS. Throws {@link MalformedEventError} if it is not a webhook. */
export function webhookIn(message: {
  readonly subject: string;
  readonly headers: Parameters<typeof attribute>[0];
  string(): string;
}): Webhook {
  const address = addressIn(message.subject);
  const delivery = attribute(message.headers, "id");
  if (delivery === "")
    throw new MalformedEventError(`expected a webhook with the id of its delivery in "${message.subject}"`);
  const traceparent = attribute(message.headers, "traceparent") || undefined;
  return { ...address, delivery, data: dataIn(message.string()), traceparent };
}

function addressIn(subject: string): ReturnType<typeof parseWebhookSubject> {
  try {
    return parseWebhookSubject(subject);
  } catch (error) {
    throw new MalformedEventError((error as Error).message, { cause: error });
  }
}

function dataIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MalformedEventError("the data of a webhook is not JSON");
  }
}

/**
 * The webhook with the fields that one trigger selects, and no others; or how its fields differ from these, because another version
 * of the function or only another function selected them when the gateway stored it.
 */
export function selectedBy(
  { select }: WebhookTrigger,
  webhook: Webhook,
): Webhook | { readonly problems: readonly string[] } {
  const { success, data, error } = select.safeParse(webhook.data);
  return success ? { ...webhook, data } : { problems: mismatches(error.issues, webhook.data) };
}
