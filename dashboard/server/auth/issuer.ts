/** The OpenID Connect issuer: authorization code flow with PKCE, nonce, and state. */
import * as oidc from "openid-client";
import { type IssuerSettings, openDiscovery } from "./discovery.ts";
import { UnavailableError } from "./unavailable.ts";

/** State of a login in progress. The browser keeps it, encrypted. */
export interface PendingLogin {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The tokens of a user. */
export interface Tokens {
  readonly user: string;
  readonly idToken: string;
  readonly refreshToken: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The issuer. All methods throw an {@link UnavailableError} if it does not answer, or fails itself. */
export interface Issuer {
  /** Starts a login. Returns the URL to send the browser to. */
  begin(redirectUri: string): Promise<{ readonly url: URL; readonly login: PendingLogin }>;
  /** Finishes a login with the callback URL. Throws a {@link LoginError} if it fails. */
  finish(url: URL, login: PendingLogin): Promise<Tokens>;
  /** Exchanges a refresh token for new tokens. Throws an {@link SessionEndedError} if the issuer rejects the token. */
  refresh(refreshToken: string): Promise<Tokens>;
  /** Revokes a refresh token (RFC 7009) if the issuer supports it. */
  revoke(refreshToken: string): Promise<void>;
  /** URL at which a browser ends its session at the issuer; undefined if the issuer has none. */
  logoutUrl(user: string, backTo: string): Promise<URL | undefined>;
}

/** The session cannot be continued: the user has to log in again. */
export class SessionEndedError extends Error {
  override readonly name = "SessionEndedError";
}

/** `denied` by the user or the issuer, `interrupted` because this browser did not start the login, or `refused` for another reason. */
export type LoginFailure = "denied" | "interrupted" | "refused";

/** A login has failed. */
export class LoginError extends Error {
  override readonly name = "LoginError";
  readonly failure: LoginFailure;

  constructor(failure: LoginFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

/** OAuth errors after which the user has to log in again (RFC 6749, 5.2; OpenID Connect Core 1.0, 3.1.2.6). */
const finalErrors = ["invalid_grant", "interaction_required", "login_required", "consent_required"];

/**
 * Opens an issuer. ID tokens come from the token endpoint over TLS, so their signatures need no check here (OpenID Connect Core
 * 1.0, 3.1.3.7, 6). The API server checks them on every request.
 */
export function openIssuer(settings: IssuerSettings): Issuer {
  const { configuration, forget } = openDiscovery(settings);

  async function callIssuer<T>(ask: (config: oidc.Configuration) => Promise<T>): Promise<T> {
    try {
      return await ask(await configuration());
    } catch (error) {
      if (error instanceof SessionEndedError) throw error;
      if (error instanceof LoginError && error.failure !== "refused") throw error;
      // Its endpoints, its CA certificate, or the client secret may have changed.
      forget();
      if (error instanceof LoginError) throw error;
      throw new UnavailableError(
        "issuer",
        `The issuer ${settings.issuer} is unavailable. Sessions stay valid. Try again in a moment.`,
        { cause: error },
      );
    }
  }

  return {
    begin: (redirectUri) =>
      callIssuer(async (config) => {
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
      callIssuer(async (config) => {
        if (url.searchParams.get("state") !== state)
          throw new LoginError(
            "interrupted",
            "this browser did not start this login: the state does not match",
          );
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
      callIssuer(async (config) => {
        try {
          return tokensOf(await oidc.refreshTokenGrant(config, refreshToken), refreshToken);
        } catch (error) {
          if (!(error instanceof oidc.ResponseBodyError && finalErrors.includes(error.error))) throw error;
          throw new SessionEndedError(`the issuer rejected the refresh token: ${error.error}`, {
            cause: error,
          });
        }
      }),
    revoke: (refreshToken) =>
      callIssuer(async (config) => {
        if (config.serverMetadata().revocation_endpoint === undefined) return;
        await oidc.tokenRevocation(config, refreshToken, { token_type_hint: "refresh_token" });
      }),
    logoutUrl: (user, backTo) =>
      callIssuer(async (config) => {
        if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
        // No id_token_hint: the browser's history would keep a token that the API server accepts.
        return oidc.buildEndSessionUrl(config, { logout_hint: user, post_logout_redirect_uri: backTo });
      }),
  };
}

/** Errors of the issuer itself, not of the login (RFC 6749, 4.1.2.1). */
const transientErrors = ["server_error", "temporarily_unavailable"];
/** Error codes of the client library for responses that are not valid OAuth. */
const invalidResponses = ["OAUTH_TIMEOUT", "OAUTH_RESPONSE_IS_NOT_CONFORM", "OAUTH_RESPONSE_IS_NOT_JSON"];

/** Maps a failure to a {@link LoginError}. An error of the issuer itself is returned unchanged. */
function loginError(error: Error & { readonly code?: unknown }): Error {
  const isUnavailable = error instanceof TypeError || invalidResponses.includes(String(error.code));
  if (isUnavailable || error instanceof UnavailableError) return error;
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError) {
    if (transientErrors.includes(error.error)) return error;
    const failure = error.error === "access_denied" ? "denied" : "refused";
    return new LoginError(failure, `the issuer returned ${error.error}`, { cause: error });
  }
  return new LoginError("refused", `the login failed: ${error.message}`, { cause: error });
}

type TokenResponse = oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers;

/** Keeps the former refresh token if the issuer does not rotate them. */
function tokensOf(answer: TokenResponse, refreshToken: string | undefined): Tokens {
  const claims = answer.claims();
  if (claims === undefined || answer.id_token === undefined)
    throw new SessionEndedError("the issuer returned no ID token");
  return {
    user: claims.sub,
    idToken: answer.id_token,
    refreshToken: answer.refresh_token ?? refreshToken,
    expiresAt: claims.exp * 1000,
  };
}
