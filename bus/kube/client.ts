/** A small typed client for the Kubernetes API: requests, watches, and one function per verb. */
import { request as ask, type Dispatcher } from "undici";
import { apiCallSpan, setStatusCode, spannedCall } from "../tracing/calls.ts";
import { noteOrigin } from "../tracing/origins.ts";
import type { Span } from "../tracing/spans.ts";
import type { KubeConnection, PoolRole } from "./connection.ts";
import { ApiError, ApiUnreachableError, isDistrust, type StatusBody } from "./errors.ts";
import { apiVersionOf, type Kind, Pod } from "./kind.ts";
import { isPathSegment, type KubeObject, type Stored } from "./object.ts";
import { retryThrottled } from "./pending.ts";
import { type WatchEvent, watchEvents } from "./watchstream.ts";

export type { WatchEvent } from "./watchstream.ts";

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

/** A watch. */
export interface WatchRequest extends Omit<ApiRequest, "method"> {
  /** One of possibly a thousand watches: it may share its connection with others. */
  readonly oneOfMany?: boolean;
}

/** Identifies an object. `namespace` is empty or missing for cluster-scoped kinds. */
export interface ObjectName {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** Options of a write. */
export interface WriteOptions {
  readonly fieldManager: string;
  readonly traceparent?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly dryRun?: "All" | undefined;
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

/** Page of a list. */
export interface ListPage<T extends KubeObject> {
  readonly items: Stored<T>[];
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    /** Number of objects on later pages; absent on the last one. */
    readonly remainingItemCount?: number;
  };
}

/**
 * Media types that request only metadata, as `PartialObjectMetadata`, where the content of objects must not even arrive.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/
 */
export const metadataOnly = {
  list: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
  watch: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
} as const;

const headersTimeoutMillis = 30_000;

/** The API server, as one user. */
export interface KubeClient {
  readonly connection: KubeConnection;
  /**
   * Sends a request and returns the parsed body. Throws {@link ApiError} or {@link ApiUnreachableError}. Retries a 429, unless it
   * asks for a wait of more than some seconds or comes from an admission webhook.
   */
  request<R = unknown>(request: ApiRequest): Promise<R>;
  /**
   * Opens a watch and returns its events. The iteration ends when the server ends the watch. It throws an {@link ApiError} that
   * arrives as an event, and a `WatchDecodeError` on an invalid event. Leaving it ends the request.
   */
  watch<T extends KubeObject>(request: WatchRequest): Promise<AsyncGenerator<WatchEvent<T>>>;
  get<T extends KubeObject>(kind: Kind<T>, at: ObjectName, signal?: AbortSignal): Promise<Stored<T>>;
  list<T extends KubeObject>(
    kind: Kind<T>,
    namespace?: string,
    query?: ApiRequest["query"],
    signal?: AbortSignal,
    accept?: string,
  ): Promise<ListPage<T>>;
  /** The last lines of a container's log; undefined if the API server has none. */
  podLog(
    at: ObjectName,
    options: { readonly container: string; readonly lines: number; readonly signal?: AbortSignal },
  ): Promise<string | undefined>;
  create<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions): Promise<Stored<T>>;
  /** JSON merge patch (RFC 7386). With `metadata.resourceVersion` in it, the write is conditional. */
  mergePatch<T extends KubeObject>(
    kind: Kind<T>,
    at: ObjectName,
    patch: object,
    options: WriteOptions & { readonly subresource?: "status" },
  ): Promise<Stored<T>>;
  /** Server-side apply. */
  apply<T extends KubeObject>(
    kind: Kind<T>,
    object: T,
    options: WriteOptions & {
      readonly force: "take-ownership" | "conflict";
      readonly subresource?: "status";
    },
  ): Promise<Stored<T>>;
  /** Deletes with a precondition on uid and, if given, resourceVersion. */
  delete(
    kind: Kind,
    at: ObjectName,
    options: Pick<WriteOptions, "traceparent" | "signal"> & {
      readonly uid?: string | undefined;
      readonly resourceVersion?: string | undefined;
      readonly propagation?: "Background" | "Foreground" | "Orphan";
    },
  ): Promise<void>;
}

/**
 * Path of a kind's collection or of one object. Throws a `RangeError` on an invalid namespace or name: a name of two dots would
 * lead to another path.
 */
export function resourcePath(kind: Kind, namespace?: string, name?: string, subresource?: string): string {
  for (const segment of [namespace || undefined, name]) {
    if (segment !== undefined && !isPathSegment(segment))
      throw new RangeError(`expected the name of an object, found ${JSON.stringify(segment)}`);
  }
  const root = kind.group === "" ? `/api/${kind.version}` : `/apis/${apiVersionOf(kind)}`;
  const scope = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  const object = name === undefined ? "" : `/${encodeURIComponent(name)}`;
  return `${root}${scope}/${kind.plural}${object}${subresource ? `/${subresource}` : ""}`;
}

/** Opens a client over a connection. */
export function kubeClient(connection: KubeConnection, observer?: CallObserver): KubeClient {
  const host = new URL(connection.server).host;

  async function open(request: ApiRequest, role: PoolRole, span?: Span) {
    const call = { method: request.method, path: request.path, host };
    const url = `${connection.server}${request.path}${queryText(request.query)}`;
    for (let renewed = false; ; renewed = true) {
      const way = await connection.way(role);
      let response: Dispatcher.ResponseData;
      let outcome: CallOutcome = "abandoned";
      observer?.begun(call);
      try {
        response = await ask(url, {
          method: request.method,
          dispatcher: way.dispatcher,
          headersTimeout: headersTimeoutMillis,
          bodyTimeout: role === "requests" ? headersTimeoutMillis : 0,
          headers: {
            ...way.headers,
            accept: request.accept ?? "application/json",
            ...(request.body !== undefined && { "content-type": request.contentType ?? "application/json" }),
            ...(request.traceparent !== undefined && { traceparent: request.traceparent }),
          },
          body: request.body === undefined ? null : JSON.stringify(request.body),
          ...(request.signal && { signal: request.signal }),
        });
        outcome = response.statusCode;
      } catch (error) {
        // A failed handshake has sent nothing.
        if (isDistrust(error) && !renewed && (await connection.renew(way))) continue;
        if (!request.signal?.aborted) outcome = "unanswered";
        throw unreachable(error, request, connection.server);
      } finally {
        observer?.ended(call, outcome);
      }
      setStatusCode(span, response.statusCode);
      if (response.statusCode !== 401 || renewed || !(await connection.renew(way))) return response;
      await response.body.dump();
    }
  }

  async function refuse(request: ApiRequest, response: Awaited<ReturnType<typeof open>>): Promise<ApiError> {
    const text = await response.body.text();
    const seconds = Number(response.headers["retry-after"]);
    return new ApiError(
      `${request.method} ${request.path}`,
      response.statusCode,
      parseStatus(text),
      Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined,
    );
  }

  /** Sends a request and parses its answer with `parse`. */
  function answered<R>(request: ApiRequest, parse: (text: string) => R): Promise<R> {
    const span = apiCallSpan(request, host);
    if (span === undefined) return send(request, parse);
    return spannedCall(span, async () => {
      const answer = await send({ ...request, traceparent: span.traceparent }, parse, span);
      if (request.method !== "GET") noteOrigin(span, answer);
      return answer;
    });
  }

  const send = <R>(request: ApiRequest, parse: (text: string) => R, span?: Span): Promise<R> =>
    retryThrottled(request.signal, `${request.method} ${request.path}`, async () => {
      const response = await open(request, "requests", span);
      if (response.statusCode >= 300) throw await refuse(request, response);
      try {
        return parse(await response.body.text());
      } catch (error) {
        throw unreachable(error, request, connection.server);
      }
    });

  const client: KubeClient = {
    connection,
    request: <R>(request: ApiRequest) =>
      answered(request, (text) => (text === "" ? undefined : JSON.parse(text)) as R),
    async podLog(at, { container, lines, signal }) {
      const path = resourcePath(Pod, at.namespace, at.name, "log");
      const query = { container, tailLines: lines };
      try {
        return await answered(
          // The API server rejects a request that accepts only text.
          { method: "GET", path, query, accept: "application/json, */*", ...(signal && { signal }) },
          (text) => text,
        );
      } catch (error) {
        // If the kubelet does not answer, the API server reports an error.
        if (error instanceof ApiError) return undefined;
        throw error;
      }
    },
    async watch({ oneOfMany = false, ...options }) {
      const request: ApiRequest = { ...options, method: "GET", query: { ...options.query, watch: 1 } };
      const response = await open(request, oneOfMany ? "namespaceWatches" : "watches");
      if (response.statusCode !== 200) throw await refuse(request, response);
      return watchEvents(response.body, request.path);
    },
    get: (kind, at, signal) =>
      client.request({
        method: "GET",
        path: resourcePath(kind, at.namespace, at.name),
        ...(signal && { signal }),
      }),
    async list<T extends KubeObject>(
      kind: Kind<T>,
      namespace?: string,
      query?: ApiRequest["query"],
      signal?: AbortSignal,
      accept?: string,
    ) {
      const page = await client.request<Pick<ListPage<T>, "metadata"> & { items: Stored<T>[] | null }>({
        method: "GET",
        path: resourcePath(kind, namespace),
        ...(query && { query }),
        ...(signal && { signal }),
        ...(accept && { accept }),
      });
      // An empty list of metadata has null for its items.
      return { ...page, items: page.items ?? [] };
    },
    create: (kind, object, { fieldManager, dryRun, ...context }) =>
      client.request({
        method: "POST",
        path: resourcePath(kind, object.metadata.namespace),
        query: { fieldManager, dryRun },
        body: object,
        ...context,
      }),
    mergePatch: (kind, at, patch, { fieldManager, dryRun, subresource, ...context }) =>
      client.request({
        method: "PATCH",
        path: resourcePath(kind, at.namespace, at.name, subresource),
        query: { fieldManager, dryRun },
        contentType: "application/merge-patch+json",
        body: patch,
        ...context,
      }),
    apply: (kind, object, { fieldManager, dryRun, force, subresource, ...context }) =>
      client.request({
        method: "PATCH",
        path: resourcePath(kind, object.metadata.namespace, object.metadata.name, subresource),
        query: { fieldManager, dryRun, force: force === "take-ownership" ? true : undefined },
        contentType: "application/apply-patch+yaml",
        body: object,
        ...context,
      }),
    delete: (kind, at, { uid, resourceVersion, propagation, ...context }) =>
      client.request({
        method: "DELETE",
        path: resourcePath(kind, at.namespace, at.name),
        body: {
          apiVersion: "v1",
          kind: "DeleteOptions",
          propagationPolicy: propagation ?? "Background",
          ...((uid || resourceVersion) && { preconditions: { uid, resourceVersion } }),
        },
        ...context,
      }),
  };
  return client;
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
