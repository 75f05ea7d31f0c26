/**
 * The credential of WebService calls: a JSON Web Token signed with the control plane's own key (HS256 of RFC 7518, section 3.2).
 */
import { createHmac } from "node:crypto";
import type { Profile } from "../profile.ts";

/** Claims and key of a token. */
export interface TokenOptions {
  readonly profile: Profile;
  readonly projectID: string;
  /** All bytes of the Secret's `encryption-key`. */
  readonly encryptionKey: Uint8Array;
  /** Becomes the creator of keys, which may not be empty. Default: `denrei`. */
  readonly subject?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Backdates tokens, because the server tolerates no clock skew. Seconds. */
const earlier = 30;
const lifetime = 3600;
const defaultSubject = "denrei";

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token of a project administrator, valid for an hour. */
export function webToken({
  profile,
  projectID,
  encryptionKey,
  subject = defaultSubject,
  now,
}: TokenOptions): string {
  const seconds = Math.floor(now / 1000);
  const role = profile === "L0" ? { project_role: 2 } : { project_rbac_roles: ["Admin"] };
  const claims = {
    iss: "PipeCD",
    sub: subject,
    iat: seconds - earlier,
    nbf: seconds - earlier,
    exp: seconds + lifetime,
    role: { project_id: projectID, ...role },
  };
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${signed}.${createHmac("sha256", encryptionKey).update(signed).digest("base64url")}`;
}
