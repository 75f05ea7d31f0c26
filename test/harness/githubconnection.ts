/** Connects an account of the emulated GitHub to a user's session, as the user's browser would. */
import { cookieHeader } from "../../deploy/cli/demo/visitor.ts";
import type { Visitor } from "./visitor.ts";

function expectStatus(what: string, expected: number, found: number): void {
  if (found !== expected) throw new Error(`expected status ${expected} for ${what}, found ${found}`);
}

/** The result of a user's decision at GitHub. */
export interface Authorization {
  /** The authorization page at GitHub. */
  readonly there: URL;
  /** The callback path that GitHub redirects to. */
  readonly path: string;
  /** The cookies that the browser sends with it. */
  readonly cookie: string;
}

/** Starts a connection and authorizes it at GitHub as the user with this login. */
export async function authorize(session: Visitor, login: string): Promise<Authorization> {
  const begun = await session.fetch("/auth/github/login?to=/builds");
  expectStatus("the start of a connection", 303, begun.status);
  const there = new URL(begun.headers.get("location") ?? "");
  const body = new URLSearchParams([...there.searchParams, ["login", login]]);
  const back = await fetch(there, { method: "POST", body, redirect: "manual" });
  expectStatus("the authorization at GitHub", 302, back.status);
  const { pathname, search } = new URL(back.headers.get("location") ?? "");
  return { there, path: `${pathname}${search}`, cookie: cookieHeader(session.cookies) };
}

/** Requests the callback; resolves with the location that the dashboard redirects to. */
export async function requestCallback(session: Visitor, path: string, cookie: string): Promise<string> {
  const answer = await session.fetch(path, { headers: { cookie } });
  expectStatus("the callback from GitHub", 303, answer.status);
  return answer.headers.get("location") ?? "";
}

/** Connects the account with this login. Throws when the dashboard does not report it as connected. */
export async function connect(session: Visitor, login: string): Promise<void> {
  const { path, cookie } = await authorize(session, login);
  const there = await requestCallback(session, path, cookie);
  if (there !== "/builds?github=connected")
    throw new Error(`${login} is not connected: redirected to ${there}`);
}
