/** GitHub, as a user of it: what an App is told of whoever has logged in there with it. */
import { readFile } from "node:fs/promises";
import * as oidc from "openid-client";
import { z } from "zod";
import { accountAnswer } from "../../../bus/github/answers.ts";
import { type Answer, githubCalls } from "../../../bus/github/call.ts";
import { rateLimits } from "../../../bus/github/limits.ts";
import { pageSize, pagesOf } from "../../../bus/github/pages.ts";
import { tokenCaller } from "../../../bus/github/token.ts";
import { githubApiUrl } from "../../../bus/github/url.ts";

/** Which GitHub, and as which of its Apps. */
export interface GitHubSettings {
  /** As people see it: `https://github.com`. */
  readonly url: string;
  readonly clientId: string;
  /** Path of a file with the client's secret. */
  readonly clientSecret: string;
}

/** What a connection has begun with, and is ended by. */
export interface BegunConnection {
  readonly state: string;
  readonly verifier: string;
}

/** Somebody at GitHub. */
export interface ConnectedUser {
  readonly login: string;
  readonly token: string;
}

/** An installation of the App that the user sees. */
export interface SeenInstallation {
  readonly id: number;
  /** The login of the user or organization, or the slug of the enterprise. */
  readonly account: string;
  readonly accountType: string;
  readonly repositorySelection: "all" | "selected";
}

/** A repository of an installation that the user sees. */
export interface SeenRepository {
  readonly id: number;
  /** Without the owner. */
  readonly name: string;
  readonly fullName: string;
  readonly private: boolean;
  readonly defaultBranch: string;
  /** The user may write there, and not read alone. */
  readonly canPush: boolean;
}

/** GitHub. Its calls throw a `GitHubError`. */
export interface GitHubClient {
  /** As people see it, and as git clones from it. */
  readonly url: string;
  /** A connection that begins, and where the browser goes for it. */
  begin(redirectUri: string): Promise<{ readonly url: URL; readonly begun: BegunConnection }>;
  /** Ends it with the address that the browser came back to. Throws when anything is not as it should be. */
  finish(url: URL, begun: BegunConnection): Promise<ConnectedUser>;
  /** All of them: `GET /user/installations`. */
  installations(token: string, signal: AbortSignal): Promise<SeenInstallation[]>;
  /** All of one: `GET /user/installations/{installation_id}/repositories`. */
  repositories(token: string, installation: number, signal: AbortSignal): Promise<SeenRepository[]>;
  /** Takes the token back: `DELETE /applications/{client_id}/token`. */
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
  .transform(({ installations }): SeenInstallation[] =>
    installations.flatMap(({ id, account, repository_selection }) =>
      // A deleted account has no tokens.
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
  .transform(({ repositories }): SeenRepository[] =>
    repositories.map(({ full_name, default_branch, permissions, ...rest }) => ({
      ...rest,
      fullName: full_name,
      defaultBranch: default_branch,
      canPush: permissions?.push ?? false,
    })),
  );

const userAnswer = z.object({ login: z.string() });

/** Opens it. Nothing is asked yet, but the secret is read. */
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
    // What moves down while it is read is met twice.
    const found = new Map<number, T>();
    for await (const page of pagesOf(read)) for (const item of page) found.set(item.id, item);
    return [...found.values()];
  }

  return {
    url,
    async begin(redirectUri) {
      const verifier = oidc.randomPKCECodeVerifier();
      const begun = { state: oidc.randomState(), verifier };
      const there = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        state: begun.state,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      return { url: there, begun };
    },
    async finish(came, { state, verifier }) {
      const { access_token: token } = await oidc.authorizationCodeGrant(config, came, {
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
  // A GitHub without TLS is on one's own machine: settings allow no other.
  if (url.startsWith("http:")) oidc.allowInsecureRequests(config);
  return config;
}
