/** Reads Secrets that users name. Only this module decides which of them are credentials for git or for a registry. */
import {
  BlockedError,
  blockedBySecretAccess,
  type Context,
  Secret,
  type SecretObject,
  type Stored,
} from "denrei";
import { ownValue } from "denrei/values";
import { retryMillis } from "./retry.ts";

const basicAuth = "kubernetes.io/basic-auth";
const docker = ["kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg"] as const;

/** Uses of credentials by kpack's rules: https://github.com/buildpacks-community/kpack/blob/main/docs/secrets.md */
const uses = {
  git: { annotation: "kpack.io/git", types: [basicAuth] },
  registry: { annotation: "kpack.io/docker", types: [...docker, basicAuth] },
} as const;
/** A use of credentials. */
export type Use = keyof typeof uses;

/** On a Secret for git: the host that its credentials are for. */
export const gitHostAnnotation = uses.git.annotation;

/** Reads a Secret of the namespace. Throws a `BlockedError` when the API server refuses the read. */
async function findSecret(
  name: string,
  { key, live }: Pick<Context, "key" | "live">,
): Promise<Stored<SecretObject> | undefined> {
  return live.get(Secret, name).catch((error: unknown) => {
    const problem = `the API server refused to read the Secret ${name} in ${key.namespace}`;
    throw blockedBySecretAccess(error, problem, key.namespace, retryMillis);
  });
}

/**
 * Reads a Secret with credentials. A Secret whose type and annotation do not declare it for this use counts as missing. The user
 * who names it may lack the right to read it, so they must not learn that it exists. Its content must not leave the cluster.
 * Throws a `BlockedError` when it is missing.
 */
export async function credentialsOf(
  name: string,
  use: Use,
  ctx: Pick<Context, "key" | "live">,
): Promise<Stored<SecretObject>> {
  const found = await findSecret(name, ctx);
  if (found !== undefined && isDeclaredFor(found, use)) return found;
  const { types, annotation } = uses[use];
  throw new BlockedError(
    "SecretNotFound",
    `found no Secret ${name} in ${ctx.key.namespace} for ${use}: its type must be ${types.join(" or ")}, and a Secret of type ${basicAuth} needs the annotation ${annotation} with the host that it is for. Create the Secret, or the Installation that maintains it.`,
    retryMillis,
  );
}

function isDeclaredFor({ type = "Opaque", metadata }: Stored<SecretObject>, use: Use): boolean {
  const types: readonly string[] = uses[use].types;
  const host = metadata.annotations?.[uses[use].annotation]?.trim() ?? "";
  return types.includes(type) && (type !== basicAuth || host !== "");
}

/** Decodes the value of a key. Throws a `BlockedError` for a missing key, without naming the other keys. */
export function valueIn({ metadata: { name }, data }: Stored<SecretObject>, key: string): string {
  const encoded = ownValue(data, key);
  const value = encoded === undefined ? "" : Buffer.from(encoded, "base64").toString().trim();
  if (value !== "") return value;
  throw new BlockedError(
    "SecretInvalid",
    `the Secret ${name} has no value under the key ${key}`,
    retryMillis,
  );
}
