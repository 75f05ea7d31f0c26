/** The OpenID Connect issuer, by a certified client: authorization code flow with PKCE, nonce and state. */
import * as oidc from "openid-client";
import { AwayError } from "./away.ts";
import { type IssuerSettings, openDiscovery } from "./discovery.ts";

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

/** The issuer. All of it throws an {@link AwayError} when that does not answer, or not as an issuer does. */
export interface Issuer {
  /** A login that begins, and where the browser goes for it. */
  begin(redirectUri: string): Promise<{ readonly url: URL; readonly login: BegunLogin }>;
  /** Ends a login with the address that the browser came back to. Throws a {@link LoginError} when anything is not as it should be. */
  finish(url: URL, login: BegunLogin): Promise<Tokens>;
  /** New tokens for a refresh token. Throws an {@link EndedError} when the issuer takes it no more. */
  refresh(refreshToken: string): Promise<Tokens>;
  /** Has the issuer take a refresh token no more (RFC 7009), where it can be asked to. */
  revoke(refreshToken: string): Promise<void>;
  /** Where a browser goes to end its session there; undefined where the issuer has no such place. */
  logoutUrl(user: string, backTo: string): Promise<URL | undefined>;
}

/** The issuer says that somebody has to log in again. */
export class EndedError extends Error {
  override readonly name = "EndedError";
}

/** Why somebody was not logged in: they or the issuer did not want it, it was not the login that this browser has begun, or anything else. */
export type LoginTrouble = "denied" | "interrupted" | "refused";

/** A login has failed. */
export class LoginError extends Error {
  override readonly name = "LoginError";
  readonly trouble: LoginTrouble;

  constructor(trouble: LoginTrouble, message: string, options?: ErrorOptions) {
    super(message, options);
    this.trouble = trouble;
  }
}

/** The refresh token is used up, or somebody has to be there (RFC 6749, 5.2; OpenID Connect Core 1.0, 3.1.2.6). */
const endings = ["invalid_grant", "interaction_required", "login_required", "consent_required"];

/**
 * Prepares an issuer. It gives ID tokens over TLS and to us alone, so their signatures are not looked at here (OpenID Connect
 * Core 1.0, 3.1.3.7, 6); the API server looks at them with every request, and knows when keys have changed.
 */
export function openIssuer(settings: IssuerSettings): Issuer {
  const { configuration, forget } = openDiscovery(settings);

  async function asking<T>(ask: (config: oidc.Configuration) => Promise<T>): Promise<T> {
    try {
      return await ask(await configuration());
    } catch (error) {
      if (error instanceof EndedError) throw error;
      if (error instanceof LoginError && error.trouble !== "refused") throw error;
      // Its addresses, its authority or our secret may be others by now.
      forget();
      if (error instanceof LoginError) throw error;
      throw new AwayError(
        "issuer",
        `expected an answer of the issuer ${settings.issuer}, but ${reasonOf(error)}. Nobody is logged out by it: try again in a moment.`,
        { cause: error },
      );
    }
  }

  return {
    begin: (redirectUri) =>
      asking(async (config) => {
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
      }),
    finish: (url, { state, nonce, verifier }) =>
      asking(async (config) => {
        if (url.searchParams.get("state") !== state)
          throw new LoginError("interrupted", "expected the login that was begun here, found another one's");
        try {
          const answer = await oidc.authorizationCodeGrant(config, url, {
            expectedState: state,
            expectedNonce: nonce,
            pkceCodeVerifier: verifier,
            idTokenExpected: true,
          });
          return tokensOf(answer, undefined);
        } catch (error) {
          throw loginError(error as Error);
        }
      }),
    refresh: (refreshToken) =>
      asking(async (config) => {
        try {
          return tokensOf(await oidc.refreshTokenGrant(config, refreshToken), refreshToken);
        } catch (error) {
          if (!(error instanceof oidc.ResponseBodyError && endings.includes(error.error))) throw error;
          throw new EndedError(`the issuer gives no new token: ${error.error}`, { cause: error });
        }
      }),
    revoke: (refreshToken) =>
      asking(async (config) => {
        if (config.serverMetadata().revocation_endpoint === undefined) return;
        await oidc.tokenRevocation(config, refreshToken, { token_type_hint: "refresh_token" });
      }),
    logoutUrl: (user, backTo) =>
      asking(async (config) => {
        if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
        // Without the ID token, which the API server would take of whoever finds it in the browser's history.
        return oidc.buildEndSessionUrl(config, { logout_hint: user, post_logout_redirect_uri: backTo });
      }),
  };
}

const reasonOf = (error: unknown): string => {
  if (error instanceof oidc.ResponseBodyError) return `it says ${error.error}`;
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message;
};

/** What an issuer says when it is not well, which is no word about a login (RFC 6749, 4.1.2.1). */
const passing = ["server_error", "temporarily_unavailable"];
/** Codes of the client library for an answer that is none of an issuer's. */
const noAnswers = ["OAUTH_TIMEOUT", "OAUTH_RESPONSE_IS_NOT_CONFORM", "OAUTH_RESPONSE_IS_NOT_JSON"];

/** An error of the login; what is none of it stays as it is. */
function loginError(error: Error & { readonly code?: unknown }): Error {
  const isAway = error instanceof TypeError || noAnswers.includes(String(error.code));
  if (isAway || error instanceof AwayError) return error;
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError) {
    if (passing.includes(error.error)) return error;
    const trouble = error.error === "access_denied" ? "denied" : "refused";
    return new LoginError(trouble, `the issuer says ${error.error}`, { cause: error });
  }
  return new LoginError("refused", `the login was not as it should be: ${error.message}`, { cause: error });
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
