/**
 * Simulates the lifecycle of installation tokens. In the package `emulate` they never expire and cannot be revoked, and
 * any text that is not a token authenticates as the first user.
 */
import { randomBytes } from "node:crypto";
import { claimedApp, claimsProblem } from "./appjwt.ts";
import { type ApiAnswer, type ApiCall, type Endpoint, json, problem } from "./call.ts";
import { user } from "./seed.ts";

/** Properties of newly issued tokens. */
export interface TokenPolicy {
  /** Lifetime. Defaults to one hour. */
  readonly lifetimeMillis?: number | undefined;
  /** Length in characters, at least 60. Defaults to `emulate`'s 31. */
  readonly length?: number | undefined;
}

/** The caller of a request. */
export interface Caller {
  /** Id of the App, also when one of its installations calls. */
  readonly app?: number | undefined;
  readonly installation?: number | undefined;
}

interface Issued {
  readonly app: number | undefined;
  readonly installation: number;
  readonly permissions: Readonly<Record<string, string>>;
  /** The token in `emulate`. */
  readonly token: string;
  readonly expiresAt: number;
}

interface IssuedAnswer {
  readonly token: string;
  readonly expires_at: string;
  readonly permissions: Readonly<Record<string, string>>;
}

const tokenPath = /^\/app\/installations\/(\d+)\/access_tokens$/;

/** All issued tokens. */
export class Tokens {
  policy: TokenPolicy;
  /** Issued tokens, including expired and revoked ones. */
  readonly all: string[] = [];
  readonly #issued = new Map<string, Issued>();

  constructor(policy: TokenPolicy) {
    this.policy = policy;
  }

  /** The caller according to the token, whose validity is not checked. */
  readonly caller = ({ headers }: ApiCall): Caller => {
    const text = bearer(headers.authorization);
    if (isJwt(text)) return { app: claimedApp(text) };
    const { app, installation } = this.#issued.get(text) ?? {};
    return { app, installation };
  };

  /** Permissions of an installation token; undefined for any other text. */
  readonly permissionsOf = (token: string): Readonly<Record<string, string>> | undefined =>
    this.#issued.get(token)?.permissions;

  /** The request with a token that `emulate` accepts, or an error. */
  admit(call: ApiCall): ApiCall | ApiAnswer {
    const { authorization, ...headers } = call.headers;
    if (authorization === undefined) return call;
    const text = bearer(authorization);
    if (isJwt(text)) {
      const message = claimsProblem(text);
      return message === undefined ? call : problem(401, message);
    }
    if (user.tokens.includes(text)) return call;
    const issued = this.#issued.get(text);
    if (issued === undefined || issued.expiresAt <= Date.now()) return problem(401, "Bad credentials");
    return { ...call, headers: { ...headers, authorization: `Bearer ${issued.token}` } };
  }

  /** Whether an admitted request has a permission; the user has all. */
  may({ headers }: ApiCall, permission: string, access: "read" | "write"): boolean {
    const text = bearer(headers.authorization);
    if (user.tokens.includes(text)) return true;
    const issued = this.#issued.get(text);
    // Every token has this permission: https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
    if (permission === "metadata") return issued !== undefined;
    const granted = issued?.permissions[permission];
    return granted === "write" || granted === access;
  }

  /** Handles `DELETE /installation/token`. */
  readonly revoke: Endpoint = async ({ method, path, headers }) => {
    if (method !== "DELETE" || path !== "/installation/token") return undefined;
    return this.#issued.delete(bearer(headers.authorization))
      ? { status: 204, headers: {}, body: "" }
      : problem(403, "Resource not accessible: not an installation token");
  };

  /** Applies the policy to a response with a new token; returns other responses unchanged. */
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

/** Format of the stateless tokens that GitHub introduced in 2026: the App id, and a JSON web token. */
function opaque(app: number | undefined, length: number): string {
  const random = randomBytes(length).toString("base64url");
  return `ghs_${app}_eyJ${random.slice(0, 20)}.${random.slice(20)}`.slice(0, length);
}
