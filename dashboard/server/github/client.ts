/** The GitHub API, as the App acting for a user. */
import { readFile } from "node:fs/promises";
import {
  type Answer,
  accountAnswer,
  githubApiUrl,
  githubCalls,
  pageSize,
  pagesOf,
  rateLimits,
  tokenCaller,
} from "denrei/github";
import * as oidc from "openid-client";
import { z } from "zod";
import type { ShownInstallation } from "../../api/github.ts";

/** The GitHub instance and the App on it. */
export interface GitHubSettings {
  /** Web address: `https://github.com`. */
  readonly url: string;
  readonly clientId: string;
  /** Path of a file with the client secret. */
  readonly clientSecret: string;
}

/** State of a connection in progress. */
export interface PendingConnection {
  readonly state: string;
  readonly verifier: string;
}

/** A connected account. */
export interface ConnectedUser {
  readonly login: string;
  readonly token: string;
}

/** An installation of the App that the user can see. */
export interface VisibleInstallation extends ShownInstallation {
  readonly repositorySelection: "all" | "selected";
}

/** A repository of an installation that the user can see. */
export interface VisibleRepository {
  readonly id: number;
  /** Without the owner. */
  readonly name: string;
  readonly fullName: string;
  readonly private: boolean;
  readonly defaultBranch: string;
  /** Whether the user may push, not only read. */
  readonly canPush: boolean;
}

/** The client. API calls throw a `GitHubError`. */
export interface GitHubClient {
  /** Web address, also for git clones. */
  readonly url: string;
  /** The OAuth client of the App. */
  readonly clientId: string;
  /** Starts a connection. Returns the URL to send the browser to. */
  begin(redirectUri: string): Promise<{ readonly url: URL; readonly connection: PendingConnection }>;
  /** Finishes a connection with the callback URL. Throws if it fails. */
  finish(url: URL, connection: PendingConnection): Promise<ConnectedUser>;
  /** All installations: `GET /user/installations`. */
  installations(token: string, signal: AbortSignal): Promise<VisibleInstallation[]>;
  /** All repositories of an installation: `GET /user/installations/{installation_id}/repositories`. */
  repositories(token: string, installation: number, signal: AbortSignal): Promise<VisibleRepository[]>;
  /** Revokes the token: `DELETE /applications/{client_id}/token`. */
  revoke(token: string, signal: AbortSignal): Promise<void>;
}

const installationsAnswer = z
  .object({
    installations: z.array(
      z.object({
        id: z.int(),
        account: accountAnswer,
        repository_selection: z.enum(["all", "selected"]),
      }),
    ),
  })
  .transform(({ installations }): VisibleInstallation[] =>
    installations.flatMap(({ id, account, repository_selection }) =>
      // The account was deleted.
      account === undefined
        ? []
        : [
            {
              id,
              account: account.login,
              accountType: account.type,
              repositorySelection: repository_selection,
            },
          ],
    ),
  );

const repositoriesAnswer = z
  .object({
    repositories: z.array(
      z.object({
        id: z.int(),
        name: z.string(),
        full_name: z.string(),
        private: z.boolean(),
        default_branch: z.string(),
        permissions: z.object({ push: z.boolean() }).optional(),
      }),
    ),
  })
  .transform(({ repositories }): VisibleRepository[] =>
    repositories.map(({ full_name, default_branch, permissions, ...rest }) => ({
      ...rest,
      fullName: full_name,
      defaultBranch: default_branch,
      canPush: permissions?.push ?? false,
    })),
  );

const userAnswer = z.object({ login: z.string() });

/** Creates the client. Reads the secret, but sends no request. */
export async function openGitHub({ url, clientId, clientSecret }: GitHubSettings): Promise<GitHubClient> {
  const secret = (await readFile(clientSecret, "utf8")).trim();
  const config = loginAt(url, clientId, secret);
  const call = githubCalls({ base: githubApiUrl(url), limits: rateLimits() });

  async function all<T extends { readonly id: number }>(
    path: string,
    token: string,
    answer: z.ZodType<readonly T[]>,
    signal: AbortSignal,
  ): Promise<T[]> {
    const as = tokenCaller("a user", token);
    const read = (page: number): Promise<Answer<readonly T[]>> =>
      call({ method: "GET", path, parameters: { per_page: pageSize, page }, as, answer, signal });
    // An item may move to the next page between two requests, so remove duplicates.
    const found = new Map<number, T>();
    for await (const page of pagesOf(read)) for (const item of page) found.set(item.id, item);
    return [...found.values()];
  }

  return {
    url,
    clientId,
    async begin(redirectUri) {
      const verifier = oidc.randomPKCECodeVerifier();
      const connection = { state: oidc.randomState(), verifier };
      const location = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        state: connection.state,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      return { url: location, connection };
    },
    async finish(callbackUrl, { state, verifier }) {
      const { access_token: token } = await oidc.authorizationCodeGrant(config, callbackUrl, {
        expectedState: state,
        pkceCodeVerifier: verifier,
      });
      const as = tokenCaller("a user", token);
      const { body } = await call({ method: "GET", path: "/user", as, answer: userAnswer });
      return { login: body.login, token };
    },
    installations: (token, signal) => all("/user/installations", token, installationsAnswer, signal),
    repositories: (token, installation, signal) =>
      all(`/user/installations/${installation}/repositories`, token, repositoriesAnswer, signal),
    async revoke(token, signal) {
      const basic = Buffer.from(`${clientId}:${secret}`).toString("base64");
      const as = { name: "the client", limitedAs: clientId, authorization: async () => `Basic ${basic}` };
      const path = `/applications/${clientId}/token`;
      const parameters = { access_token: token };
      await call({ method: "DELETE", path, parameters, as, answer: z.unknown(), signal });
    },
  };
}

/** https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app */
function loginAt(url: string, clientId: string, secret: string): oidc.Configuration {
  const issuer = `${url}/login/oauth`;
  const config = new oidc.Configuration(
    { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/access_token` },
    clientId,
    undefined,
    oidc.ClientSecretPost(secret),
  );
  // Only on a local machine: the settings allow no other URL without TLS.
  if (url.startsWith("http:")) oidc.allowInsecureRequests(config);
  return config;
}
