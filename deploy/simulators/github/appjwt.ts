/**
 * JSON web tokens of Apps: creation by clients, and GitHub's validation.
 * https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
 */
import { sign } from "node:crypto";

/** Seconds since the epoch; an undefined claim is omitted. */
export interface Claims {
  readonly iat?: number | undefined;
  readonly exp?: number | undefined;
}

const maxLifetimeSeconds = 600;

/** A JSON web token of the App, valid for nine minutes unless `claims` overrides that. */
export function appJwt(
  app: { readonly id: number; readonly privateKey: string },
  claims: Claims = {},
): string {
  const now = seconds();
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "RS256", typ: "JWT" })}.${part({
    iat: now - 60,
    exp: now + 540,
    iss: String(app.id),
    ...claims,
  })}`;
  return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), app.privateKey).toString("base64url")}`;
}

/** The `iat` and `exp` claims, unverified. */
export function claimsOf(jwt: string): Claims {
  const { iat, exp } = payloadOf(jwt) ?? {};
  return { iat: iat as number | undefined, exp: exp as number | undefined };
}

/** The App id in the `iss` claim, unverified. */
export const claimedApp = (jwt: string): number | undefined => {
  const id = Number(payloadOf(jwt)?.iss);
  return Number.isInteger(id) ? id : undefined;
};

/**
 * Validates `iat` and `exp` and returns GitHub's error message; undefined if both are valid. The package `emulate`
 * accepts tokens without an expiry or with one up to a year ahead. The signature is not checked here.
 */
export function claimsProblem(jwt: string): string | undefined {
  const { iat, exp } = payloadOf(jwt) ?? {};
  const now = seconds();
  if (typeof exp !== "number" || exp <= now)
    return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
  if (exp > now + maxLifetimeSeconds) return "'Expiration time' claim ('exp') is too far in the future";
  if (!Number.isInteger(iat) || Number(iat) > now)
    return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
  return undefined;
}

const seconds = (): number => Math.floor(Date.now() / 1000);

function payloadOf(jwt: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString());
  } catch {
    return undefined;
  }
}
