/** Senders without a provider of their own. */
import { builtInProvider } from "../provider.ts";
import { signatures } from "../signatures.ts";

/**
 * Every sender that follows Standard Webhooks. The event is the field `type` of the body. All events need a `select`.
 * https://www.standardwebhooks.com
 */
export const standardWebhooks = builtInProvider({
  name: "standard-webhooks",
  signature: signatures.standard(),
  event: { field: "type" },
  delivery: { header: "webhook-id" },
  events: "any",
});

/**
 * Every sender that signs the body with an HMAC, such as a script. The signature is in `X-Hub-Signature-256: sha256=<hex>`, the
 * event in `X-Webhook-Event`, and the id of the delivery in `X-Webhook-Delivery`. Without an id, equal bodies are one delivery. All
 * events need a `select`.
 */
export const hmacWebhooks = builtInProvider({
  name: "hmac",
  signature: signatures.hmac({ header: "X-Hub-Signature-256", prefix: "sha256=" }),
  event: { header: "X-Webhook-Event" },
  delivery: [{ header: "X-Webhook-Delivery" }, "digest"],
  events: "any",
});
