/** Somebody in front of a dashboard who sees what no browser shows: every answer as it is, cookies and headers included. */
import type { IncomingHttpHeaders } from "node:http";
import { request } from "undici";
import type { Person } from "../issuer/issuer.ts";

/** An answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The text as JSON. */
  json<T>(): T;
}

/** What is asked. */
export interface Question {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Of the replica that is asked; the one at the public address unless given. */
  readonly at?: string;
}

/** Has cookies, and the page's own word. */
export interface Visitor {
  /** By name; of the dashboard. */
  readonly cookies: Map<string, string>;
  /** Sends the cookies, and with what is not `GET` the page's word; keeps the cookies that come back. */
  ask(path: string, question?: Question): Promise<Answer>;
}

/** The session's cookie, on a machine of one's own. */
export const sessionCookieName = "denrei-session";
export const loginCookieName = "denrei-login";

/** A visitor who is nobody yet. */
export function visitor(url: string): Visitor {
  const cookies = new Map<string, string>();
  let csrf: string | undefined;
  async function ask(path: string, question: Question = {}): Promise<Answer> {
    const { method = "GET", headers, body, at = url } = question;
    if (method !== "GET" && csrf === undefined)
      csrf = (await ask("/api/session")).json<{ csrf?: string }>().csrf;
    const answer = await raw(new URL(path, at), {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: {
        host: new URL(url).host,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(method !== "GET" && csrf !== undefined && { "x-denrei-csrf": csrf }),
        ...cookieHeader(cookies),
        ...headers,
      },
    });
    keep(cookies, answer);
    return answer;
  }
  return { cookies, ask };
}

/** Logs somebody in, from the dashboard to the issuer's form and back. */
export async function logIn(url: string, person: Person): Promise<Visitor> {
  const who = visitor(url);
  const { callback } = await toCallback(who, person);
  const answer = await who.ask(callback);
  if (!who.cookies.has(sessionCookieName))
    throw new Error(`expected a session, found ${answer.status} ${answer.headers.location}`);
  return who;
}

/** Logs somebody in as far as the issuer goes; what is left is the way back to the dashboard, which is returned. */
export async function toCallback(
  who: Visitor,
  { name, password }: Person,
  login = "/auth/login",
): Promise<{ callback: string }> {
  const begun = await who.ask(login);
  let there = new URL(String(begun.headers.location));
  const issuer = there.origin;
  const cookies = new Map<string, string>();
  let form: string | undefined;
  while (there.origin === issuer) {
    const answer = await raw(there, {
      method: form === undefined ? "GET" : "POST",
      headers: {
        ...cookieHeader(cookies),
        ...(form !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
      },
      ...(form !== undefined && { body: form }),
    });
    keep(cookies, answer);
    if (answer.headers.location === undefined && form !== undefined)
      throw new Error(`expected to be sent on, found ${answer.status} ${answer.text}`);
    form = undefined;
    if (answer.headers.location === undefined) form = new URLSearchParams({ name, password }).toString();
    else there = new URL(answer.headers.location, there);
  }
  return { callback: `${there.pathname}${there.search}` };
}

interface Raw {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function raw(url: URL, options: Raw): Promise<Answer> {
  const { statusCode, headers, body } = await request(url, options);
  const text = await body.text();
  return { status: statusCode, headers, text, json: <T>() => JSON.parse(text) as T };
}

const cookieHeader = (cookies: ReadonlyMap<string, string>): Record<string, string> =>
  cookies.size === 0 ? {} : { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") };

function keep(cookies: Map<string, string>, { headers }: Answer): void {
  for (const line of [headers["set-cookie"] ?? []].flat()) {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === "" || /max-age=0/i.test(line)) cookies.delete(name);
    else cookies.set(name, value);
  }
}
