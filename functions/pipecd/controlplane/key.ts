/**
 * The encryption key of a control plane: whoever has it may do anything there. It is made once and never written again: what
 * the datastore holds is encrypted with it.
 */
import { randomBytes } from "node:crypto";
import { Secret, type SecretObject } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { bytesIn, denied, findSecret } from "../kubernetes/secrets.ts";
import { objectNames, secretKeys } from "../names.ts";
import { patience } from "../pace.ts";

/** The server takes no shorter one. Bytes. */
const leastBytes = 32;

const { encryptionKey } = secretKeys;

/** The Secret with the key, made where there is none. One that somebody has made before is used as it is. */
export async function ensureKey(ctx: Context): Promise<Stored<SecretObject>> {
  const found = await findSecret(objectNames.secret, ctx);
  if (found !== undefined) {
    checkKey(found);
    return found;
  }
  // Text: PipeCD's own tools read the file as such.
  const key = randomBytes(48).toString("base64url");
  const child = {
    metadata: { name: objectNames.secret },
    spec: undefined,
    type: "Opaque",
    data: { [encryptionKey]: Buffer.from(key).toString("base64") },
  };
  try {
    return await ctx.create(Secret, child);
  } catch (error) {
    throw denied(objectNames.secret, ctx.key.namespace, error);
  }
}

/** Throws a `BlockedError` for a Secret without a key that the server takes. */
function checkKey(secret: Stored<SecretObject>): void {
  const { length } = bytesIn(secret, encryptionKey);
  if (length >= leastBytes) return;
  throw new BlockedError(
    "EncryptionKeyInvalid",
    `expected the Secret ${objectNames.secret} to have an ${encryptionKey} of at least ${leastBytes} bytes, found ${length}. It is never overwritten: what is stored is encrypted with it. Put the right one there, or delete the Secret to have a new one made.`,
    patience,
  );
}
