/** Client for GitHub as an App. */
import signJwt from "universal-github-app-jwt";
import { z } from "zod";
import { allowedApiUrl } from "./allowed.ts";
import {
  appAnswer,
  deliveriesAnswer,
  type GitHubInstallation,
  type HookDelivery,
  type InstallationToken,
  installationAnswer,
  type Permissions,
  type RegisteredApp,
  tokenAnswer,
} from "./answers.ts";
import { type Caller, githubCalls } from "./call.ts";
import { GitHubRefusedError } from "./errors.ts";
import type { AppKey } from "./key.ts";
import type { RateLimits } from "./limits.ts";
import { nextParameter, pageSize } from "./pages.ts";
import { isToken, tokenCaller } from "./token.ts";

export type {
  GitHubInstallation,
  HookDelivery,
  InstallationToken,
  Permissions,
  RegisteredApp,
} from "./answers.ts";

/** Options of a client for one App. */
export interface GitHubAppOptions {
  /** The web address of a GitHub Enterprise Server. Default: github.com. */
  readonly url?: string | undefined;
  /** Web addresses of allowed GitHubs in addition to github.com. Default: those of the environment. */
  readonly allowed?: readonly string[] | undefined;
  readonly appId: number;
  readonly key: AppKey;
  /** Shared by all clients of a process, so that they respect each other's rate limits. */
  readonly limits: RateLimits;
  /**
   * Requests tokens in the long form (a JWT) or the short one. Default: GitHub decides. See
   * https://github.blog/changelog/2026-05-15-github-app-installation-tokens-per-request-override-header/
   */
  readonly statelessTokens?: "enabled" | "disabled" | undefined;
  /** Default: see `CallerOptions`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Timeout of one call. Milliseconds; default 10 s. */
  readonly deadlineMillis?: number | undefined;
}

/** Scope of a token. A missing or empty list does not restrict the token. */
export interface TokenScope {
  readonly repositoryIds?: readonly number[] | undefined;
  /** Names without the owner. GitHub accepts either names or ids. */
  readonly repositories?: readonly string[] | undefined;
  readonly permissions?: Permissions | undefined;
}

/** GitHub as one App. Each call throws a `GitHubError`, or the signal's reason when the caller aborts. */
export interface GitHubAppClient {
  /** The base URL of the API. */
  readonly base: string;
  /** Reads the App itself, which verifies the key and the id. */
  self(signal?: AbortSignal): Promise<RegisteredApp>;
  installation(id: number, signal?: AbortSignal): Promise<GitHubInstallation>;
  /** Creates a token, valid for an hour. */
  mintToken(installationId: number, scope?: TokenScope, signal?: AbortSignal): Promise<InstallationToken>;
  /** Revokes a token. Succeeds for an invalid one. */
  revokeToken(token: string, signal?: AbortSignal): Promise<void>;
  /**
   * The attempts to deliver webhook events, the newest first, back to `since`. Each page is requested when it is reached. GitHub
   * keeps them for a few days.
   */
  deliveries(options: {
    readonly since: Date;
    readonly signal?: AbortSignal | undefined;
  }): AsyncGenerator<HookDelivery, void>;
  /** Requests a redelivery; `deliveryId` is that of an attempt. */
  redeliver(deliveryId: string, signal?: AbortSignal): Promise<void>;
}

/** The issue time of JWTs is set back by this: GitHub rejects a JWT from the future, and clocks differ. */
const backdatedSeconds = 60;
/** The library subtracts this itself. */
const backdatedByLibrarySeconds = 30;

/** Opens a client for one App. Throws a `GitHubUrlError` or a `GitHubNotAllowedError`. Sends nothing yet. */
export function githubApp(options: GitHubAppOptions): GitHubAppClient {
  const { appId, key, statelessTokens } = options;
  const base = allowedApiUrl(options.url, options.allowed);
  const call = githubCalls({ ...options, base });
  const app: Caller = {
    name: `App ${appId} with the key ${key.fingerprint}`,
    limitedAs: `App ${appId}`,
    authorization: async () => `Bearer ${await appJwt(appId, key)}`,
  };

  return {
    base,
    async self(signal) {
      return (await call({ method: "GET", path: "/app", as: app, answer: appAnswer, signal })).body;
    },
    async installation(id, signal) {
      const path = `/app/installations/${id}`;
      return (await call({ method: "GET", path, as: app, answer: installationAnswer, signal })).body;
    },
    async mintToken(installationId, scope = {}, signal) {
      const { body } = await call({
        method: "POST",
        path: `/app/installations/${installationId}/access_tokens`,
        parameters: tokenRequest(scope),
        ...(statelessTokens && { headers: { "x-github-stateless-s2s-token": statelessTokens } }),
        as: app,
        answer: tokenAnswer,
        signal,
      });
      return body;
    },
    async revokeToken(token, signal) {
      if (!isToken(token)) return;
      const as = tokenCaller("an installation", token);
      try {
        await call({ method: "DELETE", path: "/installation/token", as, answer: z.unknown(), signal });
      } catch (error) {
        if (!(error instanceof GitHubRefusedError && error.status === 401)) throw error;
      }
    },
    async *deliveries({ since, signal }) {
      let cursor: string | undefined;
      do {
        const { body, link } = await call({
          method: "GET",
          path: "/app/hook/deliveries",
          parameters: { per_page: pageSize, ...(cursor && { cursor }) },
          as: app,
          answer: deliveriesAnswer,
          signal,
        });
        for (const delivery of body) {
          if (delivery.deliveredAt < since) return;
          yield delivery;
        }
        cursor = nextParameter(link, base, "cursor");
      } while (cursor);
    },
    async redeliver(deliveryId, signal) {
      const path = `/app/hook/deliveries/${encodeURIComponent(deliveryId)}/attempts`;
      await call({ method: "POST", path, as: app, answer: z.unknown(), signal });
    },
  };
}

/** Makes a JWT that is valid for nine more minutes; GitHub's maximum is ten. */
async function appJwt(appId: number, key: AppKey): Promise<string> {
  const now = Math.floor(Date.now() / 1000) + backdatedByLibrarySeconds - backdatedSeconds;
  return (await signJwt({ id: String(appId), privateKey: key.pem(), now })).token;
}

const tokenRequest = ({ repositoryIds = [], repositories = [], permissions = {} }: TokenScope) => ({
  ...(repositoryIds.length > 0 && { repository_ids: repositoryIds }),
  ...(repositories.length > 0 && { repositories }),
  ...(Object.keys(permissions).length > 0 && { permissions }),
});
