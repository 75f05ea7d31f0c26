/** Somebody in front of a dashboard who sees what no browser shows: every answer as it is, cookies and headers included. */
import { Agent, type Dispatcher, type Headers } from "undici";
import * as demo from "../../deploy/cli/demo/visitor.ts";
import type { Person } from "../../deploy/simulators/login/loginpage.ts";

/** An answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
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

/** A visitor who also reads answers whole. */
export interface Visitor extends demo.Visitor {
  /** Asks as `fetch` does; what is sent is JSON. */
  ask(path: string, question?: Question): Promise<Answer>;
}

/** The session's cookie, on a machine of one's own. */
export const sessionCookieName = "denrei-session";
export const loginCookieName = "denrei-login";

/** A visitor who is nobody yet. */
export const visitor = (url: string): Visitor => asking(demo.visitor(url));

/** Logs somebody in, from the dashboard to the issuer's form and back. */
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

/** `fetch` names the host of the address, whatever it is told. */
const toHost = (host: string): Dispatcher =>
  new Agent({ pipelining: 0 }).compose(
    (dispatch) => (options, handler) =>
      dispatch({ ...options, headers: { ...(options.headers as Record<string, string>), host } }, handler),
  );
