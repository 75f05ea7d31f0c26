/** Whether the credentials are there that a build needs: kpack gives a build up for good that lacks one. */
import { isForbidden } from "../../../bus/kube/errors.ts";
import { Secret, type SecretObject } from "../../../bus/kube/kind.ts";
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

/** Names of variables whose values are secret. kpack takes none from Secrets, so people write them as they are. */
const secretName = /password|passwd|secret|token|credential|private|(?:api|access|auth|deploy)_?key/i;

/**
 * Values that a build was given and that nobody may read in what it has printed: of its Secrets, and of variables whose name says
 * that they are secret. A Secret that cannot be read any more has none.
 */
export async function secretValuesOf(
  { spec, ...sync }: Stored<RemoteSync>,
  { live }: Pick<Context, "live">,
): Promise<string[]> {
  const { git, registry } = secretNamesOf({ ...sync, spec });
  const names = registry === undefined ? [git] : [git, registry];
  const found = await Promise.all(
    names.map((name) =>
      live.get(Secret, name).catch((error: unknown) => {
        if (isForbidden(error)) return undefined;
        throw error;
      }),
    ),
  );
  const variables = (spec.build?.env ?? []).filter(({ name }) => secretName.test(name));
  return [
    ...found.flatMap((secret) => (secret === undefined ? [] : credentialsIn(secret))),
    ...variables.flatMap(({ value }) => value ?? []),
  ];
}

/** What of a Secret is secret, by the keys that kpack reads: https://kubernetes.io/docs/concepts/configuration/secret/#secret-types */
function credentialsIn({ data = {} }: Stored<SecretObject>): string[] {
  const text = (key: string) => Buffer.from(data[key] ?? "", "base64").toString();
  const documents = [".dockerconfigjson", ".dockercfg"].map(text);
  return [text("password"), ...documents.flatMap(credentialsOfRegistries)];
}

const registryFields: readonly string[] = ["password", "auth", "identitytoken", "registrytoken"];

function credentialsOfRegistries(document: string): string[] {
  const found: string[] = [];
  try {
    JSON.parse(document, (key, value: unknown) => {
      if (typeof value === "string" && registryFields.includes(key)) found.push(value);
      return value;
    });
  } catch {
    return [];
  }
  // Docker writes user and password together: https://docs.docker.com/reference/cli/docker/login/
  const passwords = found.map((auth) => Buffer.from(auth, "base64").toString().split(":").slice(1).join(":"));
  return [...found, ...passwords];
}
