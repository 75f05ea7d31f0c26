/**
 * The encryption key of a control plane, which grants full access to it. It is created once and never overwritten, because the
 * datastore's content is encrypted with it.
 */
import { randomBytes } from "node:crypto";
import { BlockedError, type Context, Secret, type SecretObject, type Stored } from "denrei";
import { retryMillis } from "../intervals.ts";
import { accessDenied, bytesIn, findSecret } from "../kubernetes/secrets.ts";
import { objectNames, secretKeys } from "../names.ts";

/** The server rejects shorter keys. Bytes. */
const minBytes = 32;

const { encryptionKey } = secretKeys;

/** The Secret with the key, created if missing. A Secret that the user created is used unchanged. */
export async function ensureEncryptionKey(ctx: Context): Promise<Stored<SecretObject>> {
  const found = await findSecret(objectNames.secret, ctx);
  if (found !== undefined) {
    checkKey(found);
    return found;
  }
  // PipeCD's own tools read the key file as text.
  const key = randomBytes(48).toString("base64url");
  const child = {
    metadata: { name: objectNames.secret },
    type: "Opaque",
    data: { [encryptionKey]: Buffer.from(key).toString("base64") },
  };
  try {
    return await ctx.create(Secret, child);
  } catch (error) {
    throw accessDenied(objectNames.secret, ctx.key.namespace, error);
  }
}

/** Throws a `BlockedError` for a Secret without a key that the server accepts. */
function checkKey(secret: Stored<SecretObject>): void {
  const { length } = bytesIn(secret, encryptionKey);
  if (length >= minBytes) return;
  throw new BlockedError(
    "EncryptionKeyInvalid",
    `expected the Secret ${objectNames.secret} to have an ${encryptionKey} of at least ${minBytes} bytes, found ${length}. Denrei never overwrites it, because the stored data is encrypted with it. Restore the correct key, or delete the Secret to create a new one.`,
    retryMillis,
  );
}
