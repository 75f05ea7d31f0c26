/** GitHub as an App sees it. */
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

/** Which App, and where. */
export interface GitHubAppOptions {
  /** The web address of a GitHub Enterprise Server; github.com if it is empty or missing. */
  readonly url?: string | undefined;
  /** Web addresses of allowed GitHubs beside github.com. Default: those of the environment. */
  readonly allowed?: readonly string[] | undefined;
  readonly appId: number;
  readonly key: AppKey;
  /** One for all clients of a process, so that they keep to each other's rate limits. */
  readonly limits: RateLimits;
  /**
   * Asks for tokens in the long form (a JWT) or in the short one; GitHub decides unless told. See
   * https://github.blog/changelog/2026-05-15-github-app-installation-tokens-per-request-override-header/
   */
  readonly statelessTokens?: "enabled" | "disabled" | undefined;
  /** Default: see `CallerOptions`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** How long one call may take. Milliseconds; default 10 s. */
  readonly deadlineMillis?: number | undefined;
}

/** What a token is to be good for. What is missing or empty is not narrowed: all that the installation has. */
export interface TokenScope {
  readonly repositoryIds?: readonly number[] | undefined;
  /** Names without the owner. GitHub takes either names or ids. */
  readonly repositories?: readonly string[] | undefined;
  readonly permissions?: Permissions | undefined;
}

/** GitHub, as one App. Each call throws a `GitHubError`, or the signal's reason when the caller gives up. */
export interface GitHubAppClient {
  /** The base URL of the API that is asked. */
  readonly base: string;
  /** The App itself: the key is good, and the id is its own. */
  self(signal?: AbortSignal): Promise<RegisteredApp>;
  installation(id: number, signal?: AbortSignal): Promise<GitHubInstallation>;
  /** Makes a token, good for an hour. */
  mintToken(installationId: number, scope?: TokenScope, signal?: AbortSignal): Promise<InstallationToken>;
  /** Ends a token. One that is no longer good, or never was, is fine. */
  revokeToken(token: string, signal?: AbortSignal): Promise<void>;
  /**
   * The attempts to deliver webhook events, the newest first, down to those at `since`; each page is asked for when it is
   * reached. GitHub keeps them for a few days.
   */
  deliveries(options: {
    readonly since: Date;
    readonly signal?: AbortSignal | undefined;
  }): AsyncGenerator<HookDelivery, void>;
  /** Has an event delivered again; `deliveryId` is that of an attempt. */
  redeliver(deliveryId: string, signal?: AbortSignal): Promise<void>;
}

/** An App's clock may be behind: GitHub takes no JWT from the future. */
const backdatedSeconds = 60;
/** What the library takes off by itself. */
const backdatedByLibrarySeconds = 30;

/** A client for one App. Throws a `GitHubUrlError`, or a `GitHubNotAllowedError`; nothing is sent yet. */
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

/** A JWT of nine more minutes; GitHub takes none of more than ten. */
async function appJwt(appId: number, key: AppKey): Promise<string> {
  const now = Math.floor(Date.now() / 1000) + backdatedByLibrarySeconds - backdatedSeconds;
  return (await signJwt({ id: String(appId), privateKey: key.pem(), now })).token;
}

const tokenRequest = ({ repositoryIds = [], repositories = [], permissions = {} }: TokenScope) => ({
  ...(repositoryIds.length > 0 && { repository_ids: repositoryIds }),
  ...(repositories.length > 0 && { repositories }),
  ...(Object.keys(permissions).length > 0 && { permissions }),
});
