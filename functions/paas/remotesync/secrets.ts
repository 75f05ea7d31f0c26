/** Checks the credentials of a build: kpack permanently gives up on a build that lacks one. */
import { type Context, isForbidden, Secret, type SecretObject, type Stored } from "denrei";
import { credentialsOf, type Use, valueIn } from "../credentials.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { secretNamesOf } from "./account.ts";

/** Keys that kpack reads, by type of Secret: https://github.com/buildpacks-community/kpack/blob/main/docs/secrets.md */
const keysByType: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/basic-auth": ["username", "password"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/dockercfg": [".dockercfg"],
};

/** Throws a `BlockedError` that names a missing Secret or key. */
export async function checkSecrets(
  sync: Stored<RemoteSync>,
  ctx: Pick<Context, "key" | "live">,
): Promise<void> {
  const { git, registry } = secretNamesOf(sync);
  await check(git, "git", ctx);
  if (registry !== undefined) await check(registry, "registry", ctx);
}

async function check(name: string, use: Use, ctx: Pick<Context, "key" | "live">): Promise<void> {
  const secret = await credentialsOf(name, use, ctx);
  for (const key of keysByType[secret.type ?? ""] ?? []) valueIn(secret, key);
}

/** Names of variables with secret values. kpack cannot read these from Secrets, so users write them in plain text. */
const secretName = /password|passwd|secret|token|credential|private|(?:api|access|auth|deploy)_?key/i;

/**
 * Secret values of a build, to be redacted in its output: those in its Secrets, and those of variables with a secret's name. Skips
 * Secrets that can no longer be read.
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

/** The secret values in a Secret, by the keys that kpack reads: https://kubernetes.io/docs/concepts/configuration/secret/#secret-types */
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
  // Docker stores user and password in one string: https://docs.docker.com/reference/cli/docker/login/
  const passwords = found.map((auth) => Buffer.from(auth, "base64").toString().split(":").slice(1).join(":"));
  return [...found, ...passwords];
}
