/** A small typed client for the Kubernetes API: requests, watches, and one method per verb. */
import type { KubeConnection } from "./connection.ts";
import { ApiError } from "./errors.ts";
import { apiVersionOf, type Kind, Pod } from "./kind.ts";
import { isPathSegment, type KubeObject, type Stored, type Unstored } from "./object.ts";
import { type ApiRequest, type Caller, type CallObserver, Transport } from "./transport.ts";
import { type WatchEvent, watchEvents } from "./watchstream.ts";

export type { ApiRequest, Call, Caller, CallObserver, CallOutcome } from "./transport.ts";
export type { WatchEvent } from "./watchstream.ts";

/** A watch. */
export interface WatchRequest extends Omit<ApiRequest, "method"> {
  /** One of possibly a thousand watches: it may share its connection with others. */
  readonly oneOfMany?: boolean;
}

/** Identifies an object. `namespace` has no meaning for cluster-scoped kinds. */
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

/** Options of a patch. */
export interface PatchOptions extends WriteOptions {
  readonly subresource?: "status";
}

/** Options of server-side apply. `force` says whether to take over fields of other managers, or to fail with a conflict. */
export interface ApplyOptions extends PatchOptions {
  readonly force: "take-ownership" | "conflict";
}

/** Options of a deletion: preconditions, and what happens to dependents. */
export interface DeleteOptions extends Pick<WriteOptions, "traceparent" | "signal"> {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly propagation?: "Background" | "Foreground" | "Orphan";
}

/** Which container, and how many of its last lines. */
export interface PodLogOptions {
  readonly container: string;
  readonly lines: number;
  readonly signal?: AbortSignal;
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
  /** The last lines of a container's log; undefined if the API server has none. Throws if the permission is missing. */
  podLog(at: ObjectName, options: PodLogOptions): Promise<string | undefined>;
  create<T extends KubeObject>(kind: Kind<T>, object: Unstored<T>, options: WriteOptions): Promise<Stored<T>>;
  /** JSON merge patch (RFC 7386). With `metadata.resourceVersion` in it, the write is conditional. */
  mergePatch<T extends KubeObject>(
    kind: Kind<T>,
    at: ObjectName,
    patch: object,
    options: PatchOptions,
  ): Promise<Stored<T>>;
  /** Server-side apply. */
  apply<T extends KubeObject>(kind: Kind<T>, object: Unstored<T>, options: ApplyOptions): Promise<Stored<T>>;
  /** Deletes with a precondition on uid and, if given, resourceVersion. */
  delete(kind: Kind, at: ObjectName, options: DeleteOptions): Promise<void>;
}

/**
 * Path of a kind's collection or of one object. A cluster-scoped kind ignores the namespace. Throws a `RangeError` on an invalid
 * namespace or name: a name of two dots would lead to another path.
 */
export function resourcePath(kind: Kind, namespace?: string, name?: string, subresource?: string): string {
  for (const segment of [namespace || undefined, name]) {
    if (segment !== undefined && !isPathSegment(segment))
      throw new RangeError(`expected the name of an object, found ${JSON.stringify(segment)}`);
  }
  const root = kind.group === "" ? `/api/${kind.version}` : `/apis/${apiVersionOf(kind)}`;
  const scope =
    kind.scope === "Namespaced" && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  const object = name === undefined ? "" : `/${encodeURIComponent(name)}`;
  return `${root}${scope}/${kind.plural}${object}${subresource ? `/${subresource}` : ""}`;
}

/** The namespace of an object. Without it, the API server would answer only that it finds nothing. */
function namespaceOf(kind: Kind, { namespace, name }: ObjectName): string | undefined {
  if (kind.scope === "Cluster" || namespace) return namespace;
  throw new RangeError(
    `expected the namespace of the ${kind.kind} ${name}, found none. Declare the kind with scope: "Cluster" if it has none`,
  );
}

const objectPath = (kind: Kind, at: ObjectName, subresource?: string): string =>
  resourcePath(kind, namespaceOf(kind, at), at.name, subresource);

/** Opens a client over a connection. Clients of several callers can share it. */
export const kubeClient = (
  connection: KubeConnection,
  observer?: CallObserver,
  caller: Caller = {},
): KubeClient => new ApiServerClient(connection, observer, caller);

class ApiServerClient implements KubeClient {
  readonly connection: KubeConnection;
  readonly #transport: Transport;

  constructor(connection: KubeConnection, observer: CallObserver | undefined, caller: Caller) {
    this.connection = connection;
    this.#transport = new Transport(connection, observer, caller);
  }

  request<R>(request: ApiRequest): Promise<R> {
    return this.#transport.send(request, (text) => (text === "" ? undefined : JSON.parse(text)) as R);
  }

  async watch<T extends KubeObject>({
    oneOfMany = false,
    ...options
  }: WatchRequest): Promise<AsyncGenerator<WatchEvent<T>>> {
    const request: ApiRequest = { ...options, method: "GET", query: { ...options.query, watch: 1 } };
    const body = await this.#transport.stream(request, oneOfMany ? "namespaceWatches" : "watches");
    return watchEvents(body, request.path);
  }

  async get<T extends KubeObject>(kind: Kind<T>, at: ObjectName, signal?: AbortSignal): Promise<Stored<T>> {
    return this.request({
      method: "GET",
      path: objectPath(kind, at),
      ...(signal && { signal }),
    });
  }

  async list<T extends KubeObject>(
    kind: Kind<T>,
    namespace?: string,
    query?: ApiRequest["query"],
    signal?: AbortSignal,
    accept?: string,
  ): Promise<ListPage<T>> {
    const page = await this.request<Pick<ListPage<T>, "metadata"> & { items: Stored<T>[] | null }>({
      method: "GET",
      path: resourcePath(kind, namespace),
      ...(query && { query }),
      ...(signal && { signal }),
      ...(accept && { accept }),
    });
    // An empty list of metadata has null for its items.
    return { ...page, items: page.items ?? [] };
  }

  async podLog(at: ObjectName, { container, lines, signal }: PodLogOptions): Promise<string | undefined> {
    const path = objectPath(Pod, at, "log");
    const query = { container, tailLines: lines };
    try {
      return await this.#transport.send(
        // The API server rejects a request that accepts only text.
        { method: "GET", path, query, accept: "application/json, */*", ...(signal && { signal }) },
        (text) => text,
      );
    } catch (error) {
      // If the kubelet does not answer, the API server reports an error.
      if (error instanceof ApiError && !error.isDenied) return undefined;
      throw error;
    }
  }

  async create<T extends KubeObject>(
    kind: Kind<T>,
    object: Unstored<T>,
    { fieldManager, dryRun, ...context }: WriteOptions,
  ): Promise<Stored<T>> {
    return this.request({
      method: "POST",
      path: resourcePath(kind, namespaceOf(kind, object.metadata)),
      query: { fieldManager, dryRun },
      body: object,
      ...context,
    });
  }

  async mergePatch<T extends KubeObject>(
    kind: Kind<T>,
    at: ObjectName,
    patch: object,
    { fieldManager, dryRun, subresource, ...context }: PatchOptions,
  ): Promise<Stored<T>> {
    return this.request({
      method: "PATCH",
      path: objectPath(kind, at, subresource),
      query: { fieldManager, dryRun },
      contentType: "application/merge-patch+json",
      body: patch,
      ...context,
    });
  }

  async apply<T extends KubeObject>(
    kind: Kind<T>,
    object: Unstored<T>,
    { fieldManager, dryRun, force, subresource, ...context }: ApplyOptions,
  ): Promise<Stored<T>> {
    return this.request({
      method: "PATCH",
      path: objectPath(kind, object.metadata, subresource),
      query: { fieldManager, dryRun, force: force === "take-ownership" ? true : undefined },
      contentType: "application/apply-patch+yaml",
      body: object,
      ...context,
    });
  }

  async delete(
    kind: Kind,
    at: ObjectName,
    { uid, resourceVersion, propagation, ...context }: DeleteOptions,
  ): Promise<void> {
    return this.request({
      method: "DELETE",
      path: objectPath(kind, at),
      body: {
        apiVersion: "v1",
        kind: "DeleteOptions",
        propagationPolicy: propagation ?? "Background",
        ...((uid || resourceVersion) && { preconditions: { uid, resourceVersion } }),
      },
      ...context,
    });
  }
}
