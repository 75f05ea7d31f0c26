/** Sends requests to the API server: credentials, retries, spans, and errors. */
import { request as ask, type Dispatcher } from "undici";
import { apiCallSpan, setStatusCode, spannedCall } from "../tracing/calls.ts";
import { noteOrigin } from "../tracing/origins.ts";
import type { Span } from "../tracing/spans.ts";
import type { Credentials, KubeConnection, PoolRole } from "./connection.ts";
import { adviceFor, type Denial, denialOf } from "./denial.ts";
import { ApiError, ApiUnreachableError, isDistrust, type StatusBody } from "./errors.ts";
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
    const response = await this.#open(request, role);
    if (response.statusCode !== 200) throw await errorOf(request, response, this.#advise);
    return response.body;
  }

  #sendUntilServed<R>(request: ApiRequest, parse: (text: string) => R, span?: Span): Promise<R> {
    return retryThrottled(request.signal, `${request.method} ${request.path}`, async () => {
      const response = await this.#open(request, "requests", span);
      if (response.statusCode >= 300) throw await errorOf(request, response, this.#advise);
      try {
        return parse(await response.body.text());
      } catch (error) {
        throw unreachable(error, request, this.#connection.server);
      }
    });
  }

  /** Sends a request, and once more if the connection could renew what the server rejects. */
  async #open(request: ApiRequest, role: PoolRole, span?: Span): Promise<Dispatcher.ResponseData> {
    const connection = this.#connection;
    const call = { method: request.method, path: request.path, host: this.#host };
    const url = `${connection.server}${request.path}${queryText(request.query)}`;
    for (let renewed = false; ; renewed = true) {
      const credentials = await connection.credentials(role);
      let response: Dispatcher.ResponseData;
      let outcome: CallOutcome = "abandoned";
      this.#observer?.begun(call);
      try {
        response = await ask(url, optionsOf(request, role, credentials, this.#impersonation));
        outcome = response.statusCode;
      } catch (error) {
        // A failed handshake has sent nothing.
        if (isDistrust(error) && !renewed && (await connection.renew(credentials))) continue;
        if (!request.signal?.aborted) outcome = "unanswered";
        throw unreachable(error, request, connection.server);
      } finally {
        this.#observer?.ended(call, outcome);
      }
      setStatusCode(span, response.statusCode);
      if (response.statusCode !== 401 || renewed || !(await connection.renew(credentials))) return response;
      await response.body.dump();
    }
  }
}

const optionsOf = (
  request: ApiRequest,
  role: PoolRole,
  credentials: Credentials,
  impersonation: RequestHeaders,
) => ({
  method: request.method,
  dispatcher: credentials.dispatcher,
  headersTimeout: headersTimeoutMillis,
  bodyTimeout: role === "requests" ? headersTimeoutMillis : 0,
  headers: {
    ...credentials.headers,
    ...impersonation,
    accept: request.accept ?? "application/json",
    ...(request.body !== undefined && { "content-type": request.contentType ?? "application/json" }),
    ...(request.traceparent !== undefined && { traceparent: request.traceparent }),
  },
  body: request.body === undefined ? null : JSON.stringify(request.body),
  ...(request.signal && { signal: request.signal }),
});

/** The error for an answer that refuses the request. Reads the body. */
async function errorOf(
  request: ApiRequest,
  response: Dispatcher.ResponseData,
  advise: (denial: Denial) => string,
): Promise<ApiError> {
  const status = parseStatus(await response.body.text());
  const seconds = Number(response.headers["retry-after"]);
  const denial = response.statusCode === 403 ? denialOf(request, status.message) : undefined;
  return new ApiError(`${request.method} ${request.path}`, response.statusCode, status, {
    ...(Number.isFinite(seconds) && seconds > 0 && { retryAfterMillis: seconds * 1000 }),
    ...(denial && { isDenied: true, advice: advise(denial) }),
  });
}

function queryText(query: ApiRequest["query"]): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
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
