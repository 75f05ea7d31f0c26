/**
 * What a request of the WebService proves who it is with: a JSON Web Token signed with the control plane's own key (HS256 of
 * RFC 7518, section 3.2).
 */
import { createHmac } from "node:crypto";
import type { Profile } from "../profile.ts";

/** Whom a token is for. */
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

/** The server allows for no difference of clocks. Seconds. */
const earlier = 30;
const lifetime = 3600;
const defaultSubject = "denrei";

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** An administrator of the project, for an hour. */
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
