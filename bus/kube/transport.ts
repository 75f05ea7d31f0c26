/** Sends requests to the API server: credentials, retries, spans, and errors. */
import { request as ask, type Dispatcher } from "undici";
import { apiCallSpan, setStatusCode, spannedCall } from "../tracing/calls.ts";
import { noteOrigin } from "../tracing/origins.ts";
import type { Span } from "../tracing/spans.ts";
import type { Credentials, KubeConnection, PoolRole } from "./connection.ts";
import { adviceFor, type Denial, denialOf } from "./denial.ts";
import { ApiError, ApiUnreachableError, isDistrust, type StatusBody } from "./errors.ts";
import { type Answer, exchange } from "./exchange.ts";
import { impersonationHeaders, type RequestHeaders } from "./kubeconfiguser.ts";
import { retryThrottled } from "./pending.ts";

/** One call. `query` values that are undefined are omitted. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** W3C trace context, sent so that the API server's traces and audit log join ours. */
  readonly traceparent?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** On whose behalf a client sends its requests. */
export interface Caller {
  /** The user to impersonate. Default: the user of the kubeconfig. */
  readonly user?: string | undefined;
  /** Says how to grant what RBAC denies: text that continues an error message. */
  readonly advise?: (denial: Denial) => string;
}

/** A call to the API server. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly host: string;
}

/** The status code, `unanswered` without an answer, or `abandoned` if nothing was sent or the caller aborted. */
export type CallOutcome = number | "unanswered" | "abandoned";

/** Observes calls, for metrics. Each call begins and ends once. */
export interface CallObserver {
  begun(call: Call): void;
  ended(call: Call, outcome: CallOutcome): void;
}

const headersTimeoutMillis = 30_000;

/** Sends requests over a connection. Throws {@link ApiError} or {@link ApiUnreachableError}. */
export class Transport {
  readonly #connection: KubeConnection;
  readonly #observer: CallObserver | undefined;
  readonly #host: string;
  readonly #advise: (denial: Denial) => string;
  readonly #impersonation: RequestHeaders;

  constructor(connection: KubeConnection, observer: CallObserver | undefined, caller: Caller) {
    this.#connection = connection;
    this.#observer = observer;
    this.#advise = caller.advise ?? adviceFor;
    this.#impersonation = impersonationHeaders({ as: caller.user });
    this.#host = new URL(connection.server).host;
  }

  /** Sends a request and parses its answer with `parse`. Retries a 429 as {@link retryThrottled} does. */
  send<R>(request: ApiRequest, parse: (text: string) => R): Promise<R> {
    const span = apiCallSpan(request, this.#host);
    if (span === undefined) return this.#sendUntilServed(request, parse);
    return spannedCall(span, async () => {
      const traced = { ...request, traceparent: span.traceparent };
      const answer = await this.#sendUntilServed(traced, parse, span);
      if (request.method !== "GET") noteOrigin(span, answer);
      return answer;
    });
  }

  /** Sends a request whose answer is read while it arrives. Returns its body. */
  async stream(request: ApiRequest, role: PoolRole): Promise<Dispatcher.ResponseData["body"]> {
    const send: Send<Dispatcher.ResponseData> = async (url, credentials, onStatus) => {
      const { dispatcher } = credentials;
      const response = await ask(url, {
        ...optionsOf(request, 0, credentials, this.#impersonation),
        dispatcher,
      });
      onStatus(response.statusCode);
      return response;
    };
    const { statusCode, headers, body } = await this.#open(request, role, send, (refused) =>
      refused.body.dump(),
    );
    if (statusCode === 200) return body;
    throw errorOf(request, { statusCode, headers, text: await body.text() }, this.#advise);
  }

  #sendUntilServed<R>(request: ApiRequest, parse: (text: string) => R, span?: Span): Promise<R> {
    return retryThrottled(request.signal, `${request.method} ${request.path}`, async () => {
      const answer = await this.#open(request, "requests", (url, credentials, onStatus) =>
        exchange(
          credentials.dispatcher,
          url,
          optionsOf(request, headersTimeoutMillis, credentials, this.#impersonation),
          (statusCode) => {
            setStatusCode(span, statusCode);
            onStatus(statusCode);
          },
        ),
      );
      if (answer.statusCode >= 300) throw errorOf(request, answer, this.#advise);
      try {
        return parse(answer.text);
      } catch (error) {
        throw unreachable(error, request, this.#connection.server);
      }
    });
  }

  /** Sends a request, and once more if the connection could renew what the server rejects. */
  async #open<A extends Pick<Answer, "statusCode">>(
    request: ApiRequest,
    role: PoolRole,
    send: Send<A>,
    discard?: (answer: A) => Promise<void>,
  ): Promise<A> {
    const connection = this.#connection;
    const call = { method: request.method, path: request.path, host: this.#host };
    const url = `${connection.server}${request.path}${queryText(request.query)}`;
    for (let renewed = false; ; renewed = true) {
      const credentials = await connection.credentials(role);
      let answer: A;
      let outcome: CallOutcome = "abandoned";
      this.#observer?.begun(call);
      try {
        answer = await send(url, credentials, (statusCode) => {
          outcome = statusCode;
        });
      } catch (error) {
        // A failed handshake has sent nothing.
        if (isDistrust(error) && !renewed && (await connection.renew(credentials))) continue;
        if (outcome === "abandoned" && !request.signal?.aborted) outcome = "unanswered";
        throw unreachable(error, request, connection.server);
      } finally {
        this.#observer?.ended(call, outcome);
      }
      if (answer.statusCode !== 401 || renewed || !(await connection.renew(credentials))) return answer;
      await discard?.(answer);
    }
  }
}

/** Sends a request once. Calls `onStatus` when the answer begins. */
type Send<A> = (url: string, credentials: Credentials, onStatus: (statusCode: number) => void) => Promise<A>;

function optionsOf(
  request: ApiRequest,
  bodyTimeout: number,
  credentials: Credentials,
  impersonation: RequestHeaders,
) {
  const { method, accept = "application/json", body, contentType, traceparent, signal } = request;
  const headers: Record<string, string> = { ...credentials.headers, ...impersonation, accept };
  if (body !== undefined) headers["content-type"] = contentType ?? "application/json";
  if (traceparent !== undefined) headers.traceparent = traceparent;
  return {
    method,
    headersTimeout: headersTimeoutMillis,
    bodyTimeout,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    ...(signal && { signal }),
  };
}

/** The error for an answer that refuses the request. */
function errorOf(
  request: ApiRequest,
  { statusCode, headers, text }: Answer,
  advise: (denial: Denial) => string,
): ApiError {
  const status = parseStatus(text);
  const seconds = Number(headers["retry-after"]);
  const denial = statusCode === 403 ? denialOf(request, status.message) : undefined;
  return new ApiError(`${request.method} ${request.path}`, statusCode, status, {
    ...(Number.isFinite(seconds) && seconds > 0 && { retryAfterMillis: seconds * 1000 }),
    ...(denial && { isDenied: true, advice: advise(denial) }),
  });
}

function queryText(query: ApiRequest["query"] = {}): string {
  let text = "";
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) text += `${text === "" ? "?" : "&"}${name}=${encodeURIComponent(value)}`;
  }
  return text;
}

function parseStatus(text: string): StatusBody {
  try {
    return JSON.parse(text) as StatusBody;
  } catch {
    return { message: text.slice(0, 500) };
  }
}

function unreachable(error: unknown, request: ApiRequest, server: string): unknown {
  if (request.signal?.aborted) return request.signal.reason;
  const message = error instanceof Error ? error.message || (error as { code?: string }).code : String(error);
  return new ApiUnreachableError(
    `expected the API server at ${server}, but ${request.method} ${request.path}: ${message}`,
    {
      cause: error,
    },
  );
}
