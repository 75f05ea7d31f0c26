/** The OpenID Connect issuer, by a certified client: authorization code flow with PKCE, nonce and state. */
import { readFile } from "node:fs/promises";
import * as oidc from "openid-client";
import { Agent, fetch as undiciFetch } from "undici";

/** Where people log in, and as which client. */
export interface IssuerSettings {
  /** Where browsers come back to. */
  readonly dashboardUrl: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Path of a file with the client's secret; a public client has none. */
  readonly clientSecret: string | undefined;
  readonly scopes: string;
  /** Path of a file with the authority's certificate. */
  readonly ca: string | undefined;
}

/** What a login has begun with, and is ended by: it stays in the browser meanwhile, sealed. */
export interface BegunLogin {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** What the issuer has given. */
export interface Tokens {
  readonly user: string;
  readonly idToken: string;
  readonly refreshToken: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The issuer. Its configuration is asked for at the first need, and again after that has failed. */
export interface Issuer {
  /** A login that begins, and where the browser goes for it. */
  begin(redirectUri: string): Promise<{ readonly url: URL; readonly login: BegunLogin }>;
  /** Ends a login with the address that the browser came back to. Throws when anything is not as it should be. */
  finish(url: URL, login: BegunLogin): Promise<Tokens>;
  /** New tokens for a refresh token. Throws an {@link EndedError} when the issuer takes it no more. */
  refresh(refreshToken: string): Promise<Tokens>;
  /** Where a browser goes to end its session there; undefined where the issuer has no such place. */
  logoutUrl(idToken: string, backTo: string): Promise<URL | undefined>;
}

/** The issuer says that somebody has to log in again. */
export class EndedError extends Error {
  override readonly name = "EndedError";
}

/** Prepares an issuer. */
export function openIssuer(settings: IssuerSettings): Issuer {
  let asked: Promise<oidc.Configuration> | undefined;
  const configuration = (): Promise<oidc.Configuration> => {
    asked ??= discover(settings).catch((error: unknown) => {
      asked = undefined;
      throw error;
    });
    return asked;
  };

  return {
    async begin(redirectUri) {
      const config = await configuration();
      const verifier = oidc.randomPKCECodeVerifier();
      const login = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier };
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state: login.state,
        nonce: login.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      return { url, login };
    },
    async finish(url, { state, nonce, verifier }) {
      const config = await configuration();
      const answer = await oidc.authorizationCodeGrant(config, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      return tokensOf(answer, undefined);
    },
    async refresh(refreshToken) {
      const config = await configuration();
      try {
        return tokensOf(await oidc.refreshTokenGrant(config, refreshToken), refreshToken);
      } catch (error) {
        if (error instanceof oidc.ResponseBodyError)
          throw new EndedError(`the issuer gives no new token: ${error.error}`, { cause: error });
        throw error;
      }
    },
    async logoutUrl(idToken, backTo) {
      const config = await configuration();
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
      return oidc.buildEndSessionUrl(config, { id_token_hint: idToken, post_logout_redirect_uri: backTo });
    },
  };
}

type Answer = oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers;

/** An issuer that rotates refresh tokens gives a new one, another none. */
function tokensOf(answer: Answer, refreshToken: string | undefined): Tokens {
  const claims = answer.claims();
  if (claims === undefined || answer.id_token === undefined)
    throw new EndedError("expected an ID token of the issuer, found none");
  return {
    user: claims.sub,
    idToken: answer.id_token,
    refreshToken: answer.refresh_token ?? refreshToken,
    expiresAt: claims.exp * 1000,
  };
}

async function discover({
  dashboardUrl,
  issuer,
  clientId,
  clientSecret,
  ca,
}: IssuerSettings): Promise<oidc.Configuration> {
  const secret = clientSecret === undefined ? undefined : (await readFile(clientSecret, "utf8")).trim();
  const dispatcher =
    ca === undefined ? undefined : new Agent({ connect: { ca: await readFile(ca, "utf8") } });
  const config = await oidc.discovery(
    new URL(issuer),
    clientId,
    secret,
    secret === undefined ? oidc.None() : oidc.ClientSecretBasic(secret),
    dispatcher && {
      [oidc.customFetch]: (url, options) =>
        undiciFetch(url, { ...options, dispatcher } as Parameters<
          typeof undiciFetch
        >[1]) as unknown as Promise<Response>,
    },
  );
  if (isOwnMachine(new URL(dashboardUrl))) allowOwnMachine(config);
  return config;
}

const isOwnMachine = ({ protocol, hostname }: URL): boolean =>
  protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(hostname);

/**
 * A dashboard without TLS is for one's own machine, and so is an issuer whose pages have none, because no browser trusts what
 * a local platform is signed by. What is asked for across a network stays refused.
 */
function allowOwnMachine(config: oidc.Configuration): void {
  const endpoints = Object.entries(config.serverMetadata()).filter(([name]) =>
    /_endpoint$|^jwks_uri$/.test(name),
  );
  const plain = endpoints.filter(([, address]) => String(address).startsWith("http:"));
  if (plain.length > 0 && plain.every(([, address]) => isOwnMachine(new URL(String(address)))))
    oidc.allowInsecureRequests(config);
}
