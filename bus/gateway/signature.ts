/**
 * The signature that GitHub makes over the raw body: HMAC-SHA256 in hex, in `X-Hub-Signature-256`.
 * https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Checks one body as it arrives, so that a long one keeps nobody waiting at its end. */
export interface SignatureCheck {
  update(chunk: Buffer): void;
  /** Whether one of the secrets has made the signature. Takes as long whichever it was, and if it was none. */
  matches(): boolean;
}

const form = /^sha256=([0-9a-f]{64})$/i;

/** What is compared with where there is no secret: it takes as long, and nobody knows it. */
const nobody = [randomBytes(32).toString("hex")];

/** Begins to check; undefined where the header is no signature at all. Without secrets nothing matches. */
export function checkSignature(
  header: string | undefined,
  secrets: readonly string[] | undefined,
): SignatureCheck | undefined {
  const hex = form.exec(header ?? "")?.[1];
  if (hex === undefined) return undefined;
  const claimed = Buffer.from(hex, "hex");
  const macs = (secrets?.length ? secrets : nobody).map((secret) => createHmac("sha256", secret));
  return {
    update(chunk) {
      for (const mac of macs) mac.update(chunk);
    },
    matches() {
      let found = false;
      for (const mac of macs) found = timingSafeEqual(mac.digest(), claimed) || found;
      return found;
    },
  };
}
