/** Requests that a route makes to the API server for the logged-in user. Their errors become responses in `app.ts`. */
import type { Context } from "hono";
import type { Env } from "../env.ts";
import type { ApiServer } from "./apiserver.ts";
import { requestJson } from "./responses.ts";

const askMillis = 15_000;

/** Reads a path, or with a body posts it. Throws what `requestJson` throws. */
export type Ask = <T>(path: string, options?: AskOptions) => Promise<T>;

/** Options of a request. */
export interface AskOptions {
  readonly body?: object;
  readonly accept?: string;
}

/** Asks with the session's token, until the route's request or the time is over. */
export function asUser(c: Context<Env>, apiServer: Pick<ApiServer, "request">): Ask {
  const { idToken: token } = c.get("session").session;
  const signal = AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(askMillis)]);
  return (path, { body, accept = "application/json" } = {}) =>
    requestJson(apiServer, {
      ...{ path, token, signal },
      method: body === undefined ? "GET" : "POST",
      headers: { accept, ...(body !== undefined && { "content-type": "application/json" }) },
      body: body && JSON.stringify(body),
    });
}
