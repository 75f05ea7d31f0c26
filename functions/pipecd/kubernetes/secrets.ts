/** Secrets that objects of PipeCD's name. On the bus there is no content of them, so they are read live. */

import { optInCommands } from "../../../bus/kube/domain.ts";
import { isForbidden } from "../../../bus/kube/errors.ts";
import { Secret, type SecretObject } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { digestOf } from "../../../bus/values/digest.ts";
import { ownValue } from "../../../bus/values/ownvalue.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { patience } from "../pace.ts";

/** A Secret of the reconciled object's namespace. Throws a `BlockedError` when the namespace is not opted in. */
export async function findSecret(
  name: string,
  ctx: Pick<Context, "live" | "key">,
): Promise<Stored<SecretObject> | undefined> {
  try {
    return await ctx.live.get(Secret, name);
  } catch (error) {
    throw denied(name, ctx.key.namespace, error);
  }
}

/** The platform has no right to any Secret but in namespaces that were opted in. */
export function denied(name: string, namespace: string, error: unknown): unknown {
  if (!isForbidden(error)) return error;
  return new BlockedError(
    "SecretAccessDenied",
    `expected to read the Secret ${name} in ${namespace}, which the API server refuses. Opt the namespace in: ${optInCommands(namespace)}`,
    patience,
    { cause: error },
  );
}

/** The same, of which some keys are needed. Throws a `BlockedError` that says what is missing. */
export async function secretWith(
  name: string,
  keys: readonly string[],
  ctx: Pick<Context, "live" | "key">,
): Promise<Stored<SecretObject>> {
  const found = await findSecret(name, ctx);
  if (found === undefined)
    throw new BlockedError(
      "SecretNotFound",
      `expected the Secret ${name} in ${ctx.key.namespace}${keys.length > 0 ? ` with ${keys.join(" and ")}` : ""}, found none. It is looked for again when it is created.`,
      patience,
    );
  const missing = keys.filter((key) => bytesIn(found, key).length === 0);
  if (missing.length === 0) return found;
  throw new BlockedError("SecretInvalid", `the Secret ${name} has no ${missing.join(" and no ")}`, patience);
}

/** Bytes of a key; none when it is missing. */
export const bytesIn = (secret: SecretObject, key: string): Buffer =>
  Buffer.from(ownValue(secret.data, key) ?? "", "base64");

/** What stands for the content of Secrets and ConfigMaps: another text when any of it is another. */
export const contentDigest = (...contents: readonly unknown[]): string => digestOf(contents, 16);
