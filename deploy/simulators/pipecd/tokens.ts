/** JSON Web Tokens of the WebService: HS256, signed with all bytes of the encryption key. */
import { createHmac, timingSafeEqual } from "node:crypto";

/** Claims of a token. */
export interface Claims {
  readonly subject: string;
  readonly avatarUrl: string;
  readonly project: string;
  /** Role names in v0.57.0. */
  readonly roles: readonly string[];
  /** Role number in v0.9.0. */
  readonly role: number;
}

/** Whether the token has a valid signature; its claims are not checked. */
export function isSignedBy(token: string, key: Buffer): boolean {
  const [header, payload, signature, ...rest] = token.split(".");
  if (header === undefined || payload === undefined || signature === undefined || rest.length > 0)
    return false;
  const expected = createHmac("sha256", key).update(`${header}.${payload}`).digest();
  const found = decoded(signature);
  return found !== undefined && found.length === expected.length && timingSafeEqual(found, expected);
}

/** The claims of a valid token. `now` is in milliseconds since the epoch. */
export function claimsOf(token: string, key: Buffer, now: number, era: "c" | "l0"): Claims | undefined {
  if (!isSignedBy(token, key)) return undefined;
  const [header = "", payload = ""] = token.split(".");
  const claims = objectIn(payload);
  if (objectIn(header)?.alg !== "HS256" || claims === undefined || claims.iss !== "PipeCD") return undefined;
  const valid = era === "c" ? areTimesValidC(claims, now / 1000) : areTimesValidL0(claims, now / 1000);
  const { sub = "", avatarUrl = "", aud = "", role = {} } = claims;
  if (!valid || typeof sub !== "string" || typeof avatarUrl !== "string" || !isObject(role)) return undefined;
  if (typeof aud !== "string" && (era === "l0" || !isTexts(aud))) return undefined;
  const { project_id = "", project_rbac_roles = [], project_role = 0 } = role;
  if (typeof project_id !== "string") return undefined;
  // Each version ignores the other's field, which may have any type.
  if (era === "c" && !isTexts(project_rbac_roles)) return undefined;
  if (era === "l0" && !Number.isInteger(project_role)) return undefined;
  return {
    subject: sub,
    avatarUrl,
    project: project_id,
    roles: era === "c" && isTexts(project_rbac_roles) ? project_rbac_roles : [],
    role: era === "l0" ? Number(project_role) : 0,
  };
}

/** v0.57.0 requires `exp`; `nbf` and `iat` are checked if present. Times may be strings. */
function areTimesValidC({ exp, nbf, iat }: Record<string, unknown>, seconds: number): boolean {
  const [expiry, notBefore, issued] = [exp, nbf, iat].map(secondsIn);
  if ([expiry, notBefore, issued].some(Number.isNaN) || expiry === undefined) return false;
  return (
    seconds < expiry &&
    (notBefore === undefined || seconds >= notBefore) &&
    (issued === undefined || seconds >= issued)
  );
}

function secondsIn(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const isNumber = typeof value === "number" || (typeof value === "string" && value.trim() !== "");
  return isNumber ? Math.trunc(Number(value)) : Number.NaN;
}

/** v0.9.0 requires all three as nonzero integers. */
function areTimesValidL0({ exp, nbf, iat }: Record<string, unknown>, now: number): boolean {
  const seconds = Math.trunc(now);
  if (![exp, nbf, iat].every((one) => Number.isInteger(one) && one !== 0)) return false;
  return seconds <= Number(exp) && seconds >= Number(nbf) && seconds >= Number(iat);
}

/** Decodes base64url without padding. */
const decoded = (text: string): Buffer | undefined =>
  /^[A-Za-z0-9_-]*$/.test(text) && text.length % 4 !== 1 ? Buffer.from(text, "base64url") : undefined;

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(String(decoded(text)));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");
