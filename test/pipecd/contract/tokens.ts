/** Valid and invalid tokens of the WebService. */
import { createHmac } from "node:crypto";
import type { Metadata } from "../../../deploy/simulators/pipecd/metadata.ts";

/** Options of a token. */
export interface TokenOptions {
  readonly project: string;
  readonly key: Buffer;
  /** Seconds since the epoch. */
  readonly now?: number;
  /** Role; v0.9.0 encodes it as a number. */
  readonly role?: "Admin" | "Editor" | "Viewer";
}

/** Claims that are valid in both versions. */
export function claimsFor({
  project,
  now = seconds(),
  role = "Admin",
}: TokenOptions): Record<string, unknown> {
  return {
    iss: "PipeCD",
    sub: "contract",
    iat: now - 30,
    nbf: now - 30,
    exp: now + 600,
    role: {
      project_id: project,
      project_role: ["Viewer", "Editor", "Admin"].indexOf(role),
      project_rbac_roles: [role],
    },
  };
}

/** Current time in seconds since the epoch. */
export const seconds = (): number => Math.trunc(Date.now() / 1000);

/** Creates a signed token. */
export function signed(claims: object, key: Buffer, alg: "HS256" | "HS512" | "none" = "HS256"): string {
  const text = `${part({ alg, typ: "JWT" })}.${part(claims)}`;
  if (alg === "none") return `${text}.`;
  return `${text}.${createHmac(alg === "HS256" ? "sha256" : "sha512", key)
    .update(text)
    .digest("base64url")}`;
}

/** Metadata with a token in the cookie. */
export const cookie = (token: string): Metadata => [["cookie", `token=${token}`]];

/** Metadata of an administrator, unless another role is given. */
export const bearer = (options: TokenOptions): Metadata => cookie(signed(claimsFor(options), options.key));

/** Metadata with an API key. */
export const keyHolder = (key: string): Metadata => [["authorization", `API-KEY ${key}`]];

/** Metadata of a piped. */
export const pipedToken = (project: string, id: string, key: string): Metadata => [
  ["authorization", `PIPED-TOKEN ${project},${id},${key}`],
];

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
