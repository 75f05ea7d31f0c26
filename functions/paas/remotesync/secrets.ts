/** Whether the credentials are there that a build needs: kpack gives a build up for good that lacks one. */
import type { SecretObject } from "../../../bus/kube/kind.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { secretOf, valueIn } from "../github.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { patience } from "../problems.ts";
import { secretNamesOf } from "./account.ts";

/** What kpack takes, by type of Secret: https://github.com/buildpacks-community/kpack/blob/main/docs/secrets.md */
const keysByType: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/basic-auth": ["username", "password"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/dockercfg": [".dockercfg"],
};

const annotationOf = { git: "kpack.io/git", registry: "kpack.io/docker" } as const;
const typesOf = {
  git: ["kubernetes.io/basic-auth"],
  registry: ["kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg", "kubernetes.io/basic-auth"],
} as const;

/** Throws a `BlockedError` that says what is missing of one of them. */
export async function checkSecrets(
  sync: Stored<RemoteSync>,
  ctx: Pick<Context, "key" | "live">,
): Promise<void> {
  const { git, registry } = secretNamesOf(sync);
  checked(await secretOf(git, ctx), "git");
  if (registry !== undefined) checked(await secretOf(registry, ctx), "registry");
}

function checked(secret: Stored<SecretObject>, use: "git" | "registry"): void {
  const { type = "Opaque", metadata } = secret;
  const types: readonly string[] = typesOf[use];
  const invalid = (message: string) =>
    new BlockedError(
      "SecretInvalid",
      `expected the Secret ${metadata.name} to be one that kpack can use for ${use}: ${message}`,
      patience,
    );
  if (!types.includes(type)) throw invalid(`its type is ${type}, and has to be ${types.join(" or ")}`);
  for (const key of keysByType[type] ?? []) valueIn(secret, key);
  const annotation = annotationOf[use];
  if (type === "kubernetes.io/basic-auth" && !metadata.annotations?.[annotation])
    throw invalid(`without the annotation ${annotation} it is for no host`);
}
