/**
 * Connections to the API server: its address, the user, and pooled connections. Requests use undici directly:
 * `@kubernetes/client-node` builds a dispatcher for every call, which costs a TLS handshake each time.
 */
import { createSecureContext, type SecureContext } from "node:tls";
import { Agent, type Dispatcher, ProxyAgent } from "undici";
import { isDebugged } from "../config/debugger.ts";
import { withoutIssuer } from "./clientcertificate.ts";
import { type Access, type Kubeconfig, KubeconfigError, type TlsOptions } from "./kubeconfig.ts";
import type { RequestHeaders } from "./kubeconfiguser.ts";

export { KubeconfigError, type KubeconfigSource, loadKubeconfig } from "./kubeconfig.ts";

/** Authenticated access to one API server. */
export interface KubeConnection {
  /** `https://host:port`, with a path prefix if it has one. */
  readonly server: string;
  /** Name of the kubeconfig's context. */
  readonly context: string;
  /** The namespace of the kubeconfig's context. */
  readonly namespace: string;
  /** Connections for requests. Replaced together with the certificates. */
  readonly requests: Dispatcher;
  /** The authentication headers, at most half a minute old. */
  headers(): Promise<RequestHeaders>;
  /**
   * The server rejected the headers or certificates in use: reads the configuration again. Returns true if a retry is useful,
   * because something has changed or a plugin was called.
   */
  renew(refused: Credentials): Promise<boolean>;
  /** The headers and connections for a request. Pass it to {@link KubeConnection.renew} if the server rejects them. */
  credentials(role: PoolRole): Promise<Credentials>;
  /**
   * Reports that the connection of a request of this role, sent at this time of `performance.now()`, is dead but not closed.
   * Later requests of the role use new connections.
   */
  giveUp(role: PoolRole, sentAt: number): void;
  close(): Promise<void>;
}

/**
 * Pools of connections: for requests, which share a few; for watches, which each hold one for minutes; and for watches of single
 * namespaces. There may be a thousand of the latter, so many share one connection if the server supports HTTP/2 without a proxy.
 */
export type PoolRole = "requests" | "watches" | "namespaceWatches";
type Pools = Readonly<Record<PoolRole, Pool>>;

interface Pool {
  readonly dispatcher: Dispatcher;
  /** By `performance.now()`. */
  readonly openedAt: number;
}

/** A version of the credentials. */
export interface Credentials {
  readonly dispatcher: Dispatcher;
  readonly headers: RequestHeaders;
}

/** How long credentials are used before their source is read again. */
const credentialsMillis = 30_000;
/** Limits plugin calls while a server rejects all requests. */
const renewEveryMillis = 1000;
const closeOldAfterMillis = 1000;
const maxConnections = 16;

/** Opens pooled connections to the current cluster of a kubeconfig. Throws what {@link Kubeconfig.read} does. */
export async function openConnection(kubeconfig: Kubeconfig): Promise<KubeConnection> {
  let access = await kubeconfig.read("cached");
  let pools = openPools(access);
  let read = performance.now();
  let renewed = Number.NEGATIVE_INFINITY;
  let reading: Promise<boolean> | undefined;

  /** Returns true if something changed. Keeps the current state if the files cannot be read: they may be in the middle of a write. */
  async function reread(freshness: "cached" | "renew"): Promise<boolean> {
    const next = await kubeconfig.read(freshness).catch(() => access);
    read = performance.now();
    const old = { access, pools };
    access = next;
    if (poolText(next) !== poolText(old.access)) {
      pools = openPools(next);
      closeSoon(Object.values(old.pools));
    }
    return pools !== old.pools || headersText(next.headers) !== headersText(old.access.headers);
  }

  const once = (freshness: "cached" | "renew"): Promise<boolean> => {
    reading ??= reread(freshness).finally(() => {
      reading = undefined;
    });
    return reading;
  };

  const headers = async () => {
    if (performance.now() - read > credentialsMillis) await once("cached");
    return access.headers;
  };
  return {
    server: access.server,
    context: access.context,
    namespace: access.namespace,
    get requests() {
      return pools.requests.dispatcher;
    },
    headers,
    async credentials(role) {
      const now = await headers();
      return { dispatcher: pools[role].dispatcher, headers: now };
    },
    async renew(refused) {
      const current = () =>
        Object.values(pools).some(({ dispatcher }) => dispatcher === refused.dispatcher) &&
        headersText(access.headers) === headersText(refused.headers);
      if (!current()) return true;
      if (performance.now() - renewed >= renewEveryMillis || reading !== undefined) {
        renewed = performance.now();
        await once("renew");
      }
      return !current();
    },
    giveUp(role, sentAt) {
      const old = pools[role];
      // Another request on the same connection has reported it already.
      if (sentAt < old.openedAt) return;
      pools = { ...pools, [role]: openPool(access, role) };
      closeSoon([old]);
    },
    async close() {
      await Promise.all(Object.values(pools).map(({ dispatcher }) => dispatcher.destroy()));
    },
  };
}

/** Closes pools after a delay, in which pending requests can finish. */
function closeSoon(pools: readonly Pool[]): void {
  setTimeout(() => {
    for (const { dispatcher } of pools) void dispatcher.close().catch(() => undefined);
  }, closeOldAfterMillis).unref();
}

const openPools = (access: Access): Pools => ({
  requests: openPool(access, "requests"),
  watches: openPool(access, "watches"),
  namespaceWatches: openPool(access, "namespaceWatches"),
});

const poolOptions: Readonly<Record<PoolRole, Agent.Options>> = {
  // HTTP/1.1: an HTTP/2 stream costs us twice the CPU of a small JSON call, and the API server about the same.
  requests: { connections: maxConnections, allowH2: false },
  watches: { allowH2: false },
  namespaceWatches: { allowH2: true },
};

function openPool({ proxy, ...access }: Access, role: PoolRole): Pool {
  if (proxy?.startsWith("socks")) {
    throw new KubeconfigError("SOCKS proxies are not supported: use an http:// or https:// proxy-url");
  }
  // Under a debugger no connection is reused: a pause outlasts the server's keep-alive, and the next write would fail.
  const reuse = isDebugged() ? { pipelining: 0 } : { keepAliveTimeout: 60_000 };
  const tls = connectOptions(access.tls);
  const common = { ...poolOptions[role], ...reuse };
  const dispatcher =
    proxy === undefined
      ? new Agent({ ...common, connect: { ...tls, timeout: 10_000 } })
      : new ProxyAgent({ ...common, allowH2: false, uri: proxy, requestTls: tls });
  return { dispatcher, openedAt: performance.now() };
}

/** The options of a pool's connections, which share a context: without it, each of them would parse and keep the certificates. */
function connectOptions(access: TlsOptions): TlsOptions & { readonly secureContext?: SecureContext } {
  const tls = withoutIssuer(access);
  try {
    const { rejectUnauthorized, servername } = tls;
    return {
      secureContext: createSecureContext(tls),
      ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
      ...(servername !== undefined && { servername }),
    };
  } catch {
    // Each connection fails with the same error, which names the problem.
    return tls;
  }
}

/** Identifies the settings of pools. */
const poolText = ({ proxy, tls }: Access): string =>
  JSON.stringify([
    proxy,
    ...Object.entries(tls).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? value.toString("base64") : value,
    ]),
  ]);

const headersText = (headers: RequestHeaders): string => JSON.stringify(headers);
