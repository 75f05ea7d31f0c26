/**
 * The HTTP server in front of the package `emulate`. It serves the API under `/api/v3`, as GitHub Enterprise does, records
 * requests, applies faults, and receives the webhooks of `emulate`.
 */
import { once } from "node:events";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { type ApiAnswer, type ApiCall, json, problem } from "./call.ts";
import type { Faults } from "./faults.ts";
import { graphqlPath } from "./graphql.ts";
import { apiPrefix } from "./links.ts";
import type { Caller } from "./tokens.ts";

/** A recorded request of a client. */
export interface ApiRequest extends Caller {
  /** Time of arrival, in milliseconds since the epoch. */
  readonly at: number;
  readonly method: string;
  /** With its query, without `/api/v3`. */
  readonly path: string;
  /** Request body; empty without one. */
  readonly body: string;
  /** Status of the response; undefined while it is pending, and after a connection reset. */
  readonly status: number | undefined;
}

/** Dependencies of the server. */
export interface ServerParts {
  readonly faults: Faults;
  /** Receives each request. */
  readonly requests: ApiRequest[];
  readonly caller: (call: ApiCall) => Caller;
  readonly answer: (call: ApiCall) => Promise<ApiAnswer>;
  /** Login pages for people who authorize an App, and the token endpoint. */
  readonly login: (call: ApiCall) => ApiAnswer;
  /** Pages on which people create and install Apps; undefined for other paths. */
  readonly pages: (call: ApiCall) => ApiAnswer | undefined;
  /** Receives a webhook of `emulate`. */
  readonly webhook: (app: number, event: string, body: string) => void;
  /** Ends delays. */
  readonly signal: AbortSignal;
}

const hookPath = /^\/emulate\/webhooks\/(\d+)$/;

/** URL to which `emulate` sends the webhooks of an App. */
export const hookUrl = (url: string, app: number): string => `${url}/emulate/webhooks/${app}`;

/** A listening server. It answers nothing until it has a request listener. */
export interface Listening {
  readonly server: Server;
  /** `http://127.0.0.1:port` */
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1. */
export async function listen(): Promise<Listening> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    server,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Creates the request listener. */
export function requestListener({
  faults,
  requests,
  caller,
  answer,
  login,
  pages,
  webhook,
  signal,
}: ServerParts): RequestListener {
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
    const fault = faults.take(call);
    if (fault === "reset") {
      response.socket?.resetAndDestroy();
      return;
    }
    if (fault !== undefined && "delayMillis" in fault) await wait(fault.delayMillis, undefined, { signal });
    if (fault !== undefined && "heldUntil" in fault) await fault.heldUntil;
    const reply =
      fault !== undefined && "status" in fault
        ? { ...json(fault.status, {}, fault.headers), body: fault.body ?? "{}" }
        : await answer(call);
    request.status = reply.status;
    response.writeHead(reply.status, reply.headers).end(reply.body);
  }

  return async (request, response) => {
    const { method = "GET", url = "/", headers } = request;
    try {
      const body = await buffer(request);
      const app = hookPath.exec(url)?.[1];
      if (app !== undefined) {
        // Always 202: `emulate` ignores the response.
        response.writeHead(202).end();
        webhook(Number(app), String(headers["x-github-event"]), body.toString());
      } else if (url.startsWith(`${apiPrefix}/`)) {
        await serveApi({ method, path: url.slice(apiPrefix.length), headers, body }, response);
      } else if (url === `/api${graphqlPath}`) {
        await serveApi({ method, path: graphqlPath, headers, body }, response);
      } else {
        const call = { method, path: url, headers, body };
        const reply = url.startsWith("/login/oauth/") ? login(call) : pages(call);
        const {
          status,
          headers: own,
          body: text,
        } = reply ?? problem(404, `no page ${url}, and not below ${apiPrefix}`);
        response.writeHead(status, own).end(text);
      }
    } catch (error) {
      if (response.headersSent || signal.aborted) response.destroy();
      else response.writeHead(500).end(String(error));
    }
  };
}
