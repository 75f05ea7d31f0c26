/** A dashboard client that exposes what browsers hide: complete answers with cookies and headers. */
import { Agent, type Dispatcher, type Headers } from "undici";
import * as demo from "../../deploy/cli/demo/visitor.ts";
import type { Person } from "../../deploy/simulators/login/loginpage.ts";

/** An answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON. */
  json<T>(): T;
}

/** A request. */
export interface RequestOptions {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The URL of the replica; by default that of the public address. */
  readonly at?: string;
}

/** A visitor that can also read complete answers. */
export interface Visitor extends demo.Visitor {
  /** Sends a request like `fetch`; the body is sent as JSON. */
  ask(path: string, question?: RequestOptions): Promise<Answer>;
}

/** The session cookie on a local machine. */
export const sessionCookieName = "denrei-session";
export const loginCookieName = "denrei-login";

/** A visitor without a session. */
export const visitor = (url: string): Visitor => asking(demo.visitor(url));

/** Logs a user in, from the dashboard to the issuer's form and back. */
export const logIn = async (url: string, person: Pick<Person, "name" | "password">): Promise<Visitor> =>
  asking(await demo.logIn(url, person));

const asking = (who: demo.Visitor): Visitor => ({
  ...who,
  async ask(path, { method = "GET", headers = {}, body, at = who.url } = {}) {
    const { host = new URL(who.url).host, ...others } = headers;
    const response = await who.fetch(new URL(path, at).href, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: {
        ...(body !== undefined && { "content-type": "application/json" }),
        ...others,
      },
      dispatcher: toHost(host),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: <T>() => JSON.parse(text) as T };
  },
});

/** `fetch` derives the Host header from the URL and ignores the given one. */
const toHost = (host: string): Dispatcher =>
  new Agent({ pipelining: 0 }).compose(
    (dispatch) => (options, handler) =>
      dispatch({ ...options, headers: { ...(options.headers as Record<string, string>), host } }, handler),
  );
