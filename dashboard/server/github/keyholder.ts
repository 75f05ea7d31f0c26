/**
 * GitHub as the App of a GitHubApp, for a user who may read the App's private key. Such a user can mint every token of the App, so
 * nothing that the App sees is hidden from this user. The key is read with the user's token, and never kept.
 */
import type { GitHubApp } from "@denrei/functions/ghapp/kinds";
import { type GitHubAppClient, githubApp, PrivateKeyError, parsePrivateKey, rateLimits } from "denrei/github";
import { publicGitHub, webAddresses } from "./githuburls.ts";
import { appPath, type KubernetesUser, read, type SecretContent, secretPath } from "./storeapp.ts";

const limits = rateLimits();

/** A name that is one segment of a path. */
export const isObjectName = (text: string): boolean => /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(text);

/** An App whose key the user may read. */
export interface HeldApp {
  /** Web address of its GitHub. */
  readonly url: string;
  readonly client: GitHubAppClient;
  /** Values of the Secret with its key, by name, in base64. */
  readonly data: Readonly<Record<string, string>>;
}

/**
 * Opens the App. `allowed` are the GitHubs to which requests may go. Throws what `requestJson` throws, a `PrivateKeyError`, and a
 * `GitHubUrlError`.
 */
export async function heldApp(
  user: KubernetesUser,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  allowed: readonly string[],
): Promise<HeldApp> {
  const { spec } = await read<GitHubApp>(user, appPath(namespace, name));
  const { name: secret, key } = spec.privateKeySecretRef;
  // Users write it, and the API server does not check it.
  if (!isObjectName(secret)) throw new PrivateKeyError("a Secret with an invalid name");
  const { data = {} } = await read<SecretContent>(user, secretPath(namespace, secret));
  const pem = Buffer.from(Object.hasOwn(data, key) ? (data[key] ?? "") : "", "base64").toString();
  const client = githubApp({ url: spec.url, allowed, appId: spec.appID, key: parsePrivateKey(pem), limits });
  return { url: webAddresses([spec.url ?? publicGitHub])[0] ?? publicGitHub, client, data };
}
