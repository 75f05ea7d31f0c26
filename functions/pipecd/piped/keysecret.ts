/** The Secret that holds a piped's key, and whose key it is. PipeCD tells a key once, so both are written at once. */
import { Secret, type SecretObject } from "../../../bus/kube/kind.ts";
import { controllerOf, type Stored } from "../../../bus/kube/object.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context } from "../../../bus/worker/function.ts";
import type { Piped } from "../kinds.ts";
import { bytesIn, findSecret } from "../kubernetes/secrets.ts";
import { annotations, secretKeys } from "../names.ts";
import { patience } from "../pace.ts";

const { pipedKey } = secretKeys;

/** The Secret, if there is one. Throws a `BlockedError` when it is somebody else's. */
export async function keySecret(
  { metadata: { name, uid } }: Stored<Piped>,
  ctx: Context,
): Promise<Stored<SecretObject> | undefined> {
  const found = await findSecret(name, ctx);
  if (found === undefined || controllerOf(found)?.uid === uid) return found;
  throw new BlockedError(
    "NameTaken",
    `expected no Secret ${name} that is not this Piped's, found one. It is never overwritten: delete it, or create the Piped under another name.`,
    patience,
  );
}

/** The id of the piped whose key the Secret holds; undefined when it holds none. */
export function holderOf(secret: Stored<SecretObject> | undefined): string | undefined {
  if (secret === undefined || bytesIn(secret, pipedKey).length === 0) return undefined;
  return secret.metadata.annotations?.[annotations.pipedID];
}

/** Keeps a key. */
export async function writeKey(
  { metadata: { name } }: Stored<Piped>,
  found: Stored<SecretObject> | undefined,
  { id, key }: { readonly id: string; readonly key: string },
  ctx: Context,
): Promise<Stored<SecretObject>> {
  const content = { data: { [pipedKey]: Buffer.from(key).toString("base64") } };
  const metadata = { annotations: { [annotations.pipedID]: id } };
  if (found !== undefined) return ctx.patch(Secret, found, { metadata, ...content });
  return ctx.create(Secret, { ...content, type: "Opaque", spec: undefined, metadata: { name, ...metadata } });
}
