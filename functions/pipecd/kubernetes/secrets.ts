/** Reads Secrets from the API server, because the bus has only their metadata. */
import {
  BlockedError,
  blockedBySecretAccess,
  type Context,
  digestOf,
  Secret,
  type SecretObject,
  type Stored,
} from "denrei";
import { ownValue } from "denrei/values";
import { retryMillis } from "../intervals.ts";

/** A Secret of the reconciled object's namespace. Throws a `BlockedError` if the namespace is not opted in. */
export async function findSecret(
  name: string,
  ctx: Pick<Context, "live" | "key">,
): Promise<Stored<SecretObject> | undefined> {
  try {
    return await ctx.live.get(Secret, name);
  } catch (error) {
    throw accessDenied(name, ctx.key.namespace, error);
  }
}

/** Turns a 403 into a `BlockedError`: Denrei can read Secrets only in namespaces that were opted in. Throws any other error. */
export const accessDenied = (name: string, namespace: string, error: unknown): BlockedError =>
  blockedBySecretAccess(
    error,
    `cannot read the Secret ${name} in ${namespace}: forbidden`,
    namespace,
    retryMillis,
  );

/** A Secret with the given keys. Throws a `BlockedError` if the Secret or a key is missing. */
export async function secretWith(
  name: string,
  keys: readonly string[],
  ctx: Pick<Context, "live" | "key">,
): Promise<Stored<SecretObject>> {
  const found = await findSecret(name, ctx);
  if (found === undefined)
    throw new BlockedError(
      "SecretNotFound",
      `expected the Secret ${name} in ${ctx.key.namespace}${keys.length > 0 ? ` with ${keys.join(" and ")}` : ""}, found none. Creating it triggers another attempt.`,
      retryMillis,
    );
  const missing = keys.filter((key) => bytesIn(found, key).length === 0);
  if (missing.length === 0) return found;
  throw new BlockedError(
    "SecretInvalid",
    `the Secret ${name} has no ${missing.join(" and no ")}`,
    retryMillis,
  );
}

/** The decoded value of a key; empty if it is missing. */
export const bytesIn = (secret: SecretObject, key: string): Buffer =>
  Buffer.from(ownValue(secret.data, key) ?? "", "base64");

/** A digest of the content of Secrets, ConfigMaps, and files. */
export const contentDigest = (...contents: readonly unknown[]): string => digestOf(contents, 16);
