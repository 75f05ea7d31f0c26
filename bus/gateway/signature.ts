/**
 * GitHub's signature of the raw body: HMAC-SHA256 in hex, in `X-Hub-Signature-256`.
 * https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Verifies a body as it arrives, so that a long one causes no delay at its end. */
export interface SignatureCheck {
  update(chunk: Buffer): void;
  /** Whether the body was signed with one of the secrets. Takes the same time, whichever matches. */
  matches(): boolean;
}

const pattern = /^sha256=([0-9a-f]{64})$/i;

/** A random secret for hooks without one, so that their check takes as long as any other. */
const decoySecrets = [randomBytes(32).toString("hex")];

/** Starts a check; undefined if the header is not a signature. Without secrets nothing matches. */
export function checkSignature(
  header: string | undefined,
  secrets: readonly string[] | undefined,
): SignatureCheck | undefined {
  const hex = pattern.exec(header ?? "")?.[1];
  if (hex === undefined) return undefined;
  const claimed = Buffer.from(hex, "hex");
  const macs = (secrets?.length ? secrets : decoySecrets).map((secret) => createHmac("sha256", secret));
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
