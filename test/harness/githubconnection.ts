/** Connecting an account at the emulated GitHub to somebody's session, as their browser would. */
import { cookieHeader } from "../../deploy/cli/demo/visitor.ts";
import type { Visitor } from "./visitor.ts";

function expectStatus(what: string, expected: number, found: number): void {
  if (found !== expected) throw new Error(`expected ${what} to be answered ${expected}, found ${found}`);
}

/** What somebody has decided at GitHub. */
export interface Decided {
  /** Where GitHub has asked them. */
  readonly there: URL;
  /** What their browser comes back to. */
  readonly path: string;
  /** What their browser comes back with. */
  readonly cookie: string;
}

/** Begins a connection, and has the person of that name agree at GitHub. */
export async function decided(session: Visitor, login: string): Promise<Decided> {
  const begun = await session.fetch("/auth/github/login?to=/builds");
  expectStatus("the beginning of a connection", 303, begun.status);
  const there = new URL(begun.headers.get("location") ?? "");
  const body = new URLSearchParams([...there.searchParams, ["login", login]]);
  const back = await fetch(there, { method: "POST", body, redirect: "manual" });
  expectStatus("who agrees at GitHub", 302, back.status);
  const { pathname, search } = new URL(back.headers.get("location") ?? "");
  return { there, path: `${pathname}${search}`, cookie: cookieHeader(session.cookies) };
}

/** Comes back; where the dashboard sends the browser then. */
export async function comeBack(session: Visitor, path: string, cookie: string): Promise<string> {
  const answer = await session.fetch(path, { headers: { cookie } });
  expectStatus("who comes back from GitHub", 303, answer.status);
  return answer.headers.get("location") ?? "";
}

/** Connects the account of that name. Throws when the dashboard does not say that it is connected. */
export async function connect(session: Visitor, login: string): Promise<void> {
  const { path, cookie } = await decided(session, login);
  const there = await comeBack(session, path, cookie);
  if (there !== "/builds?github=connected")
    throw new Error(`expected ${login} to be connected, found ${there}`);
}
