/** Somebody who uses the dashboard without a browser: logs in at the issuer's page, and asks as the page would. */
import { Agent, fetch, type RequestInit, type Response } from "undici";
import { AbsentError } from "../../environment/errors.ts";
import type { DashboardUser } from "../../environment/users.ts";

/** Somebody in front of a dashboard. */
export interface Visitor {
  readonly url: string;
  /** By name; of the dashboard. */
  readonly cookies: Map<string, string>;
  /**
   * Sends the cookies, and with what is not `GET` the page's word; keeps the cookies that come back. A redirection is answered as
   * it is.
   */
  fetch(path: string, init?: VisitorRequest): Promise<Response>;
}

/** As `fetch` takes it. */
export interface VisitorRequest extends RequestInit {
  readonly headers?: Record<string, string>;
}

type Credentials = Pick<DashboardUser, "name" | "password">;

/** More than any login takes. */
const mostRedirects = 20;
/** A connection per request: none is found dead that was kept. */
const dispatcher = new Agent({ pipelining: 0 });

/** A visitor who is nobody yet. */
export function visitor(url: string, signal?: AbortSignal): Visitor {
  const cookies = new Map<string, string>();
  const send = sender(cookies, signal);
  let csrf: string | undefined;
  async function ask(path: string, init: VisitorRequest = {}): Promise<Response> {
    const changes = (init.method ?? "GET") !== "GET";
    if (changes) csrf ??= ((await (await ask("/api/session")).json()) as { csrf?: string }).csrf;
    const word = changes && csrf !== undefined ? { "x-denrei-csrf": csrf } : {};
    return send(new URL(path, url), { ...init, headers: { ...word, ...init.headers } });
  }
  return { url, cookies, fetch: ask };
}

/** Logs somebody in. Throws an `AbsentError` when that does not come to a session. */
export async function logIn(url: string, person: Credentials, signal?: AbortSignal): Promise<Visitor> {
  const who = visitor(url, signal);
  const ended = await who.fetch(await toCallback(who, person, { signal }));
  await ended.body?.cancel();
  const session = await who.fetch("/api/session");
  await session.body?.cancel();
  if (!session.ok)
    throw new AbsentError(
      `expected a session of ${person.name} at ${url}, found ${session.status}, after a login that ended with ${ended.status} ${ended.headers.get("location")}`,
    );
  return who;
}

/**
 * Logs somebody in as far as the issuer goes; what is left is the way back to the dashboard, whose path is returned. Throws an
 * `AbsentError` when the issuer does not let them in.
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

  /** Goes where it is sent, to the first page or to another site. */
  async function follow(from: URL, init?: VisitorRequest): Promise<URL> {
    let [at, response] = [from, await send(from, init)];
    for (let redirects = 0; redirects < mostRedirects; redirects++) {
      await response.body?.cancel();
      const to = response.headers.get("location");
      if (to === null) return at;
      at = new URL(to, at);
      if (at.origin !== from.origin) return at;
      response = await send(at);
    }
    throw new AbsentError(`expected a page after ${mostRedirects} redirects from ${from}, found another one`);
  }

  const form = await follow(new URL(begun.headers.get("location") ?? "", who.url));
  const back = await follow(form, { method: "POST", body: new URLSearchParams({ name, password }) });
  if (back.origin === form.origin)
    throw new AbsentError(`expected the issuer to let ${name} in and to send them on, found them at ${back}`);
  return `${back.pathname}${back.search}`;
}

/**
 * Connects the account of that name at a GitHub that is played, as who is logged in would with a browser. Throws an `AbsentError`
 * when that does not come to it.
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
      `expected ${login} of GitHub to be connected at ${who.url}, found ${ended.status} ${to} after an answer ${agreed.status} of GitHub`,
    );
}

/** Sends cookies as a browser does, and takes over those that come back. */
function sender(cookies: Map<string, string>, signal: AbortSignal | undefined) {
  return async (to: URL, init: VisitorRequest = {}): Promise<Response> => {
    const response = await fetch(to, {
      ...{ signal: signal ?? null, dispatcher, ...init, redirect: "manual" },
      headers: { ...(cookies.size > 0 && { cookie: cookieHeader(cookies) }), ...init.headers },
    });
    for (const line of response.headers.getSetCookie()) keep(cookies, line);
    return response;
  };
}

/** As the header `Cookie` has them. */
export const cookieHeader = (cookies: ReadonlyMap<string, string>): string =>
  [...cookies].map((pair) => pair.join("=")).join("; ");

/** Takes over what a `Set-Cookie` says (RFC 6265); one that has ended is gone. */
function keep(cookies: Map<string, string>, line: string): void {
  const [pair = "", ...attributes] = line.split(";").map((part) => part.trim());
  const at = pair.indexOf("=");
  const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
  const ends = attributes.find((one) => /^expires=/i.test(one))?.slice("expires=".length);
  const hasEnded =
    attributes.some((one) => /^max-age=(0|-\d+)$/i.test(one)) ||
    (ends !== undefined && Date.parse(ends) <= Date.now());
  if (hasEnded || value === "") cookies.delete(name);
  else cookies.set(name, value);
}
