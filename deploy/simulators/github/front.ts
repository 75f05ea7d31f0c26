/**
 * The server that clients and the package `emulate` talk to: it has the API under `/api/v3`, as GitHub Enterprise has it,
 * keeps a record of requests, lets them meet faults, and takes the webhooks of `emulate` to be delivered.
 */
import type { RequestListener, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { type ApiAnswer, type ApiCall, json, problem } from "./call.ts";
import type { Faults } from "./faults.ts";
import { graphqlPath } from "./graphql.ts";
import { apiPrefix } from "./links.ts";
import type { Caller } from "./tokens.ts";

/** A request that a client has made. */
export interface ApiRequest extends Caller {
  /** When it came, in milliseconds since the epoch. */
  readonly at: number;
  readonly method: string;
  /** With its query, without `/api/v3`. */
  readonly path: string;
  /** As it came; empty when there was none. */
  readonly body: string;
  /** Of the answer; undefined as long as there is none, and for good when the connection was reset. */
  readonly status: number | undefined;
}

/** What the server hands on. */
export interface FrontParts {
  readonly faults: Faults;
  /** What was asked so far is added to it. */
  readonly requests: ApiRequest[];
  readonly caller: (call: ApiCall) => Caller;
  readonly answer: (call: ApiCall) => Promise<ApiAnswer>;
  /** What people see who log in with an App, and what that asks for then. */
  readonly login: (call: ApiCall) => ApiAnswer;
  /** A webhook of `emulate`. */
  readonly webhook: (app: number, event: string, body: string) => void;
  /** Ends delays. */
  readonly signal: AbortSignal;
}

const hookPath = /^\/emulate\/webhooks\/(\d+)$/;

/** Where `emulate` is to send the webhooks of an App. */
export const hookUrl = (url: string, app: number): string => `${url}/emulate/webhooks/${app}`;

/** Handles what comes to the server. */
export function front({
  faults,
  requests,
  caller,
  answer,
  login,
  webhook,
  signal,
}: FrontParts): RequestListener {
  async function serveApi(call: ApiCall, response: ServerResponse): Promise<void> {
    const request: { -readonly [K in keyof ApiRequest]: ApiRequest[K] } = {
      at: Date.now(),
      method: call.method,
      path: call.path,
      body: call.body.toString(),
      status: undefined,
      ...caller(call),
    };
    requests.push(request);
    const fault = faults.meet(call);
    if (fault === "reset") {
      response.socket?.resetAndDestroy();
      return;
    }
    if (fault !== undefined && "delayMillis" in fault) await wait(fault.delayMillis, undefined, { signal });
    if (fault !== undefined && "heldUntil" in fault) await fault.heldUntil;
    const given =
      fault !== undefined && "status" in fault
        ? { ...json(fault.status, {}, fault.headers), body: fault.body ?? "{}" }
        : await answer(call);
    request.status = given.status;
    response.writeHead(given.status, given.headers).end(given.body);
  }

  return async (request, response) => {
    const { method = "GET", url = "/", headers } = request;
    try {
      const body = await buffer(request);
      const app = hookPath.exec(url)?.[1];
      if (app !== undefined) {
        // Whatever becomes of it: `emulate` would not do anything about it.
        response.writeHead(202).end();
        webhook(Number(app), String(headers["x-github-event"]), body.toString());
      } else if (url.startsWith(`${apiPrefix}/`)) {
        await serveApi({ method, path: url.slice(apiPrefix.length), headers, body }, response);
      } else if (url === `/api${graphqlPath}`) {
        await serveApi({ method, path: graphqlPath, headers, body }, response);
      } else if (url.startsWith("/login/oauth/")) {
        const given = login({ method, path: url, headers, body });
        response.writeHead(given.status, given.headers).end(given.body);
      } else {
        const { status, body: text } = problem(404, `expected a path below ${apiPrefix}, found ${url}`);
        response.writeHead(status).end(text);
      }
    } catch (error) {
      if (response.headersSent || signal.aborted) response.destroy();
      else response.writeHead(500).end(String(error));
    }
  };
}
