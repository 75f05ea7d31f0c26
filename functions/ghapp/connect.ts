/** Authenticates as an App. Its key is read for each use, and never kept. */
import { BlockedError, blockedBySecretAccess, type Context, platformNamespace, type Stored } from "denrei";
import {
  type AppKey,
  type GitHubAppClient,
  GitHubUrlError,
  githubApp,
  PrivateKeyError,
  parsePrivateKey,
  rateLimits,
  retryMillis,
  urlReason,
} from "denrei/github";
import { ownValue } from "denrei/values";
import type { ClusterGitHubApp, GitHubApp } from "./kinds.ts";
import { TokenSecret } from "./secret.ts";

/** An App of either kind. */
export type App = Stored<GitHubApp> | Stored<ClusterGitHubApp>;

/** Location of the Secret with an App's key. */
export const keySecretOf = ({
  metadata,
  spec,
}: App): { readonly namespace: string; readonly name: string } => ({
  namespace: metadata.namespace ?? platformNamespace,
  name: spec.privateKeySecretRef.name,
});

/** Rate limits of GitHub, shared by all objects of this process. */
const limits = rateLimits();

/** Reads the App's private key. Throws a `BlockedError` that names the missing part. */
export async function keyOf(app: App, ctx: Context): Promise<AppKey> {
  const at = keySecretOf(app);
  const { key } = app.spec.privateKeySecretRef;
  const secret = await ctx.live.get(TokenSecret, at.name, at.namespace).catch((error: unknown) => {
    const problem = `the API server refused to read the Secret ${at.name} in ${at.namespace}`;
    throw blockedBySecretAccess(error, problem, at.namespace, retryMillis);
  });
  if (secret === undefined)
    throw new BlockedError(
      "KeySecretNotFound",
      `found no Secret ${at.name} in ${at.namespace} with the App's private key`,
      retryMillis,
    );
  const encoded = ownValue(secret.data, key);
  if (encoded === undefined)
    throw new BlockedError(
      "KeyNotFound",
      `the Secret ${at.name} in ${at.namespace} has no value under the key ${key}`,
      retryMillis,
    );
  try {
    return parsePrivateKey(Buffer.from(encoded, "base64").toString());
  } catch (error) {
    if (!(error instanceof PrivateKeyError)) throw error;
    throw new BlockedError(
      "KeyInvalid",
      `${key} in the Secret ${at.name} in ${at.namespace}: ${error.message}`,
      retryMillis,
    );
  }
}

/** A client that authenticates as the App. Throws a `BlockedError` when the address is invalid or not allowed. */
export function clientOf({ spec }: App, key: AppKey): GitHubAppClient {
  try {
    return githubApp({
      url: spec.url,
      appId: spec.appID,
      key,
      limits,
      statelessTokens: spec.statelessTokens,
    });
  } catch (error) {
    if (!(error instanceof GitHubUrlError)) throw error;
    throw new BlockedError(urlReason(error), `spec.url: ${error.message}`, retryMillis, { cause: error });
  }
}
