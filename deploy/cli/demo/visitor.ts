/** A user of the dashboard without a browser: logs in on the issuer's page, and sends requests as the page does. */
import { AbsentError } from "denrei/runtime";
import { Agent, fetch, type RequestInit, type Response } from "undici";
import type { DashboardUser } from "../../environment/users.ts";

/** A user of a dashboard. */
export interface Visitor {
  readonly url: string;
  /** Cookies of the dashboard, by name. */
  readonly cookies: Map<string, string>;
  /**
   * Sends and stores cookies, and adds the CSRF token to requests other than `GET`. Does not follow redirects.
   */
  fetch(path: string, init?: VisitorRequest): Promise<Response>;
}

/** Options of `fetch`. */
export interface VisitorRequest extends RequestInit {
  readonly headers?: Record<string, string>;
}

type Credentials = Pick<DashboardUser, "name" | "password">;

/** More than any login has. */
const maxRedirects = 20;
/** One connection per request, because kept connections may be dead. */
const dispatcher = new Agent({ pipelining: 0 });

/** A user who is not logged in. */
export function visitor(url: string, signal?: AbortSignal): Visitor {
  const cookies = new Map<string, string>();
  const send = sender(cookies, signal);
  let csrf: string | undefined;
  async function ask(path: string, init: VisitorRequest = {}): Promise<Response> {
    const isWrite = (init.method ?? "GET") !== "GET";
    if (isWrite) csrf ??= ((await (await ask("/api/session")).json()) as { csrf?: string }).csrf;
    const csrfHeader = isWrite && csrf !== undefined ? { "x-denrei-csrf": csrf } : {};
    return send(new URL(path, url), { ...init, headers: { ...csrfHeader, ...init.headers } });
  }
  return { url, cookies, fetch: ask };
}

/** Logs a user in. Throws an `AbsentError` if the login does not create a session. */
export async function logIn(url: string, person: Credentials, signal?: AbortSignal): Promise<Visitor> {
  const who = visitor(url, signal);
  const ended = await who.fetch(await toCallback(who, person, { signal }));
  await ended.body?.cancel();
  const session = await who.fetch("/api/session");
  await session.body?.cancel();
  if (!session.ok)
    throw new AbsentError(
      `${person.name} has no session at ${url} (${session.status}): the login ended with ${ended.status} ${ended.headers.get("location")}`,
    );
  return who;
}

/**
 * Logs a user in at the issuer, and returns the path of the callback to the dashboard without calling it. Throws an `AbsentError` if
 * the issuer rejects the login.
 */
export async function toCallback(
  who: Visitor,
  { name, password }: Credentials,
  {
    login = "/auth/login",
    signal,
  }: { readonly login?: string; readonly signal?: AbortSignal | undefined } = {},
): Promise<string> {
  const begun = await who.fetch(login);
  await begun.body?.cancel();
  const send = sender(new Map(), signal);

  /** Follows redirects up to the first page, or to another site. */
  async function follow(from: URL, init?: VisitorRequest): Promise<URL> {
    let [at, response] = [from, await send(from, init)];
    for (let redirects = 0; redirects < maxRedirects; redirects++) {
      await response.body?.cancel();
      const to = response.headers.get("location");
      if (to === null) return at;
      at = new URL(to, at);
      if (at.origin !== from.origin) return at;
      response = await send(at);
    }
    throw new AbsentError(`more than ${maxRedirects} redirects from ${from}`);
  }

  const form = await follow(new URL(begun.headers.get("location") ?? "", who.url));
  const back = await follow(form, { method: "POST", body: new URLSearchParams({ name, password }) });
  if (back.origin === form.origin)
    throw new AbsentError(`the issuer did not log ${name} in: the login ended at ${back}`);
  return `${back.pathname}${back.search}`;
}

/**
 * Connects an account of the simulated GitHub, as a logged-in user does in a browser. Throws an `AbsentError` if the connection
 * fails.
 */
export async function connectGitHub(who: Visitor, login: string, signal?: AbortSignal): Promise<void> {
  const begun = await who.fetch("/auth/github/login");
  await begun.body?.cancel();
  const there = new URL(begun.headers.get("location") ?? "", who.url);
  const body = new URLSearchParams([...there.searchParams, ["login", login]]);
  const agreed = await sender(new Map(), signal)(there, { method: "POST", body });
  await agreed.body?.cancel();
  const back = new URL(agreed.headers.get("location") ?? "", there);
  const ended = await who.fetch(`${back.pathname}${back.search}`);
  await ended.body?.cancel();
  const to = ended.headers.get("location");
  if (to !== "/?github=connected")
    throw new AbsentError(
      `failed to connect the GitHub account ${login} at ${who.url}: ${ended.status} ${to}, after GitHub answered ${agreed.status}`,
    );
}

/** Sends and stores cookies as a browser does. */
function sender(cookies: Map<string, string>, signal: AbortSignal | undefined) {
  return async (to: URL, init: VisitorRequest = {}): Promise<Response> => {
    const response = await fetch(to, {
      ...{ signal: signal ?? null, dispatcher, ...init, redirect: "manual" },
      headers: { ...(cookies.size > 0 && { cookie: cookieHeader(cookies) }), ...init.headers },
    });
    for (const line of response.headers.getSetCookie()) storeCookie(cookies, line);
    return response;
  };
}

/** The value of a `Cookie` header. */
export const cookieHeader = (cookies: ReadonlyMap<string, string>): string =>
  [...cookies].map((pair) => pair.join("=")).join("; ");

/** Applies a `Set-Cookie` header (RFC 6265); removes expired cookies. */
function storeCookie(cookies: Map<string, string>, line: string): void {
  const [pair = "", ...attributes] = line.split(";").map((part) => part.trim());
  const at = pair.indexOf("=");
  const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
  const ends = attributes.find((one) => /^expires=/i.test(one))?.slice("expires=".length);
  const isExpired =
    attributes.some((one) => /^max-age=(0|-\d+)$/i.test(one)) ||
    (ends !== undefined && Date.parse(ends) <= Date.now());
  if (isExpired || value === "") cookies.delete(name);
  else cookies.set(name, value);
}
