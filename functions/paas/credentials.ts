/** Secrets that users name. Which of them are credentials for git or for a registry is decided here alone. */
import { optInCommands } from "../../bus/kube/domain.ts";
import { isForbidden } from "../../bus/kube/errors.ts";
import { Secret, type SecretObject } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { ownValue } from "../../bus/values/ownvalue.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import type { Context } from "../../bus/worker/function.ts";
import { patience } from "./problems.ts";

const basicAuth = "kubernetes.io/basic-auth";
const docker = ["kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg"] as const;

/** Uses of credentials, by kpack's rules: https://github.com/buildpacks-community/kpack/blob/main/docs/secrets.md */
const uses = {
  git: { annotation: "kpack.io/git", types: [basicAuth] },
  registry: { annotation: "kpack.io/docker", types: [...docker, basicAuth] },
} as const;
/** A use of credentials. */
export type Use = keyof typeof uses;

/** Of a Secret for git: which host its credentials are for. */
export const gitHostAnnotation = uses.git.annotation;

/** Reads a Secret of the namespace, if there is one. Throws a `BlockedError` when it may not be read. */
async function findSecret(
  name: string,
  { key, live }: Pick<Context, "key" | "live">,
): Promise<Stored<SecretObject> | undefined> {
  return live.get(Secret, name).catch((error: unknown) => {
    if (!isForbidden(error)) throw error;
    throw new BlockedError(
      "SecretAccessDenied",
      `expected to read the Secret ${name} in ${key.namespace}, which the API server refuses. Opt the namespace in: ${optInCommands(key.namespace)}`,
      patience,
      { cause: error },
    );
  });
}

/**
 * Reads a Secret with credentials. One whose type and annotation do not declare it for this use is treated as missing: the user who
 * names it may lack the right to read it, and must not learn that it exists, nor have its content sent anywhere. Throws a `BlockedError`
 * for a missing one.
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
    `found no Secret ${name} in ${ctx.key.namespace} that is meant for ${use}: it has to be of the type ${types.join(" or ")}, and of the type ${basicAuth} it needs the annotation ${annotation}, which says for which host it is. Create it, or the Installation that keeps it.`,
    patience,
  );
}

function isDeclaredFor({ type = "Opaque", metadata }: Stored<SecretObject>, use: Use): boolean {
  const types: readonly string[] = uses[use].types;
  const host = metadata.annotations?.[uses[use].annotation]?.trim() ?? "";
  return types.includes(type) && (type !== basicAuth || host !== "");
}

/** The value of a key. Throws a `BlockedError` for a missing key, without naming the other keys. */
export function valueIn({ metadata: { name }, data }: Stored<SecretObject>, key: string): string {
  const encoded = ownValue(data, key);
  const value = encoded === undefined ? "" : Buffer.from(encoded, "base64").toString().trim();
  if (value !== "") return value;
  throw new BlockedError("SecretInvalid", `the Secret ${name} has nothing under the key ${key}`, patience);
}
