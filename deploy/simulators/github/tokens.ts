/**
 * A stand-in for the life of installation tokens: the package `emulate` hands them out, but they never end there, can
 * not be revoked, and any text that is no token passes for its first user.
 */
import { randomBytes } from "node:crypto";
import { claimedApp, claimsProblem } from "./appjwt.ts";
import { type ApiAnswer, type ApiCall, type Endpoint, json, problem } from "./call.ts";
import { user } from "./seed.ts";

/** What tokens are like that are handed out from now on. */
export interface TokenPolicy {
  /** How long they work; an hour unless given. */
  readonly lifetimeMillis?: number | undefined;
  /** How many characters they have, 60 or more; 31 as `emulate` makes them unless given. */
  readonly length?: number | undefined;
}

/** Who makes a request. */
export interface Caller {
  /** The id of the App, also when it is one of its installations that calls. */
  readonly app?: number | undefined;
  readonly installation?: number | undefined;
}

interface Issued {
  readonly app: number | undefined;
  readonly installation: number;
  readonly permissions: Readonly<Record<string, string>>;
  /** What `emulate` knows it as. */
  readonly token: string;
  readonly expiresAt: number;
}

interface IssuedAnswer {
  readonly token: string;
  readonly expires_at: string;
  readonly permissions: Readonly<Record<string, string>>;
}

const tokenPath = /^\/app\/installations\/(\d+)\/access_tokens$/;

/** All tokens that were handed out. */
export class Tokens {
  policy: TokenPolicy;
  /** Those that were handed out, also those that are over. */
  readonly all: string[] = [];
  readonly #issued = new Map<string, Issued>();

  constructor(policy: TokenPolicy) {
    this.policy = policy;
  }

  /** Who says to be calling, be it true or not any more. */
  readonly caller = ({ headers }: ApiCall): Caller => {
    const text = bearer(headers.authorization);
    if (isJwt(text)) return { app: claimedApp(text) };
    const { app, installation } = this.#issued.get(text) ?? {};
    return { app, installation };
  };

  /** Permissions and repositories of an installation token; undefined for any other text. */
  readonly permissionsOf = (token: string): Readonly<Record<string, string>> | undefined =>
    this.#issued.get(token)?.permissions;

  /** The request as `emulate` understands it, or why it is refused. */
  admit(call: ApiCall): ApiCall | ApiAnswer {
    const { authorization, ...headers } = call.headers;
    if (authorization === undefined) return call;
    const text = bearer(authorization);
    if (isJwt(text)) {
      const wrong = claimsProblem(text);
      return wrong === undefined ? call : problem(401, wrong);
    }
    if (user.tokens.includes(text)) return call;
    const issued = this.#issued.get(text);
    if (issued === undefined || issued.expiresAt <= Date.now()) return problem(401, "Bad credentials");
    return { ...call, headers: { ...headers, authorization: `Bearer ${issued.token}` } };
  }

  /** Whether a request that was admitted may do what needs a permission; the user may do everything. */
  may({ headers }: ApiCall, permission: string, access: "read" | "write"): boolean {
    const text = bearer(headers.authorization);
    if (user.tokens.includes(text)) return true;
    const issued = this.#issued.get(text);
    // Each token has it: https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
    if (permission === "metadata") return issued !== undefined;
    const granted = issued?.permissions[permission];
    return granted === "write" || granted === access;
  }

  /** `DELETE /installation/token`, by a request that was admitted. */
  readonly revoke: Endpoint = async ({ method, path, headers }) => {
    if (method !== "DELETE" || path !== "/installation/token") return undefined;
    return this.#issued.delete(bearer(headers.authorization))
      ? { status: 204, headers: {}, body: "" }
      : problem(403, "Resource not accessible: expected the token of an installation");
  };

  /** The answer with the token as the policy wants it, if it holds one. */
  issue(call: ApiCall, answer: ApiAnswer): ApiAnswer {
    const installation = tokenPath.exec(call.path)?.[1];
    if (installation === undefined || call.method !== "POST" || answer.status !== 201) return answer;
    const body = JSON.parse(answer.body.toString()) as IssuedAnswer;
    const { lifetimeMillis, length } = this.policy;
    const app = claimedApp(bearer(call.headers.authorization));
    const expiresAt =
      lifetimeMillis === undefined ? Date.parse(body.expires_at) : Date.now() + lifetimeMillis;
    const text = length === undefined ? body.token : opaque(app, length);
    this.all.push(text);
    const { token, permissions } = body;
    this.#issued.set(text, { token, app, installation: Number(installation), permissions, expiresAt });
    return json(201, { ...body, token: text, expires_at: new Date(expiresAt).toISOString() });
  }
}

const isJwt = (text: string): boolean => text.startsWith("eyJ");

const bearer = (authorization: string | undefined): string =>
  /^(?:bearer|token)\s+(\S+)$/i.exec(authorization ?? "")?.[1] ?? "";

/** As the stateless tokens look that GitHub introduced in 2026: the id of the App, and a JSON web token. */
function opaque(app: number | undefined, length: number): string {
  const random = randomBytes(length).toString("base64url");
  return `ghs_${app}_eyJ${random.slice(0, 20)}.${random.slice(20)}`.slice(0, length);
}
