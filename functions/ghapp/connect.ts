/** Speaking to GitHub as an App: its key is read when it is needed, and kept nowhere. */

import { type GitHubAppClient, githubApp } from "../../bus/github/app.ts";
import { patience, urlReason } from "../../bus/github/blocked.ts";
import { type AppKey, PrivateKeyError, parsePrivateKey } from "../../bus/github/key.ts";
import { rateLimits } from "../../bus/github/limits.ts";
import { GitHubUrlError } from "../../bus/github/url.ts";
import { optInCommands } from "../../bus/kube/domain.ts";
import { ApiError } from "../../bus/kube/errors.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { platformNamespace } from "../../bus/process/namespace.ts";
import { ownValue } from "../../bus/values/ownvalue.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import type { Context } from "../../bus/worker/function.ts";
import type { ClusterGitHubApp, GitHubApp } from "./kinds.ts";
import { TokenSecret } from "./secret.ts";

/** An App of either kind. */
export type App = Stored<GitHubApp> | Stored<ClusterGitHubApp>;

/** Where the Secret with an App's key is. */
export const keySecretOf = ({
  metadata,
  spec,
}: App): { readonly namespace: string; readonly name: string } => ({
  namespace: metadata.namespace ?? platformNamespace,
  name: spec.privateKeySecretRef.name,
});

/** What GitHub asked this process to wait for, whichever object it was about. */
const limits = rateLimits();

/** The App's private key. Throws a `BlockedError` that says what is missing. */
export async function keyOf(app: App, ctx: Context): Promise<AppKey> {
  const at = keySecretOf(app);
  const { key } = app.spec.privateKeySecretRef;
  const secret = await ctx.live.get(TokenSecret, at.name, at.namespace).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 403)) throw error;
    throw new BlockedError(
      "SecretAccessDenied",
      `expected to read the Secret ${at.name} in ${at.namespace}, which the API server refuses. Opt the namespace in: ${optInCommands(at.namespace)}`,
      patience,
      { cause: error },
    );
  });
  if (secret === undefined)
    throw new BlockedError(
      "KeySecretNotFound",
      `expected the Secret ${at.name} in ${at.namespace} with the App's private key, found none`,
      patience,
    );
  const encoded = ownValue(secret.data, key);
  if (encoded === undefined)
    throw new BlockedError(
      "KeyNotFound",
      `the Secret ${at.name} in ${at.namespace} has nothing under the key ${key}`,
      patience,
    );
  try {
    return parsePrivateKey(Buffer.from(encoded, "base64").toString());
  } catch (error) {
    if (!(error instanceof PrivateKeyError)) throw error;
    throw new BlockedError(
      "KeyInvalid",
      `${key} in the Secret ${at.name} in ${at.namespace}: ${error.message}`,
      patience,
    );
  }
}

/** A client that speaks as the App. Throws a `BlockedError` for an address that is none, or that nothing may be sent to. */
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
    throw new BlockedError(urlReason(error), `spec.url: ${error.message}`, patience, { cause: error });
  }
}
