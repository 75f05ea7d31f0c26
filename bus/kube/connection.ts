/**
 * The way to the API server: which one, as whom, over which pooled connections. Requests go to undici directly:
 * `@kubernetes/client-node` builds a dispatcher, and so a TLS handshake, for every call.
 */
import { Agent, type Dispatcher, ProxyAgent } from "undici";
import { isDebugged } from "../process/debugger.ts";
import { type Access, type Kubeconfig, KubeconfigError } from "./kubeconfig.ts";

export { KubeconfigError, type KubeconfigSource, loadKubeconfig } from "./kubeconfig.ts";

/** An authenticated way to one API server. */
export interface KubeConnection {
  /** `https://host:port`, and a path prefix if there is one. */
  readonly server: string;
  /** Name of the kubeconfig's context. */
  readonly context: string;
  /** The namespace of the kubeconfig's context. */
  readonly namespace: string;
  /** Connections for requests: few and kept. Replaced when the certificates are. */
  readonly requests: Dispatcher;
  /** Connections for watches, which each hold one for minutes. Replaced when the certificates are. */
  readonly watches: Dispatcher;
  /** The headers that say who we are: those of the last half minute. */
  headers(): Promise<Readonly<Record<string, string>>>;
  /**
   * The server has refused what {@link KubeConnection.headers} and the pools were: reads the configuration anew. True when
   * it is worth asking again, because something is different now or a plugin was asked.
   */
  renew(refused: Way): Promise<boolean>;
  /** What a request is sent with now; hand it to {@link KubeConnection.renew}. */
  way(role: "requests" | "watches"): Promise<Way>;
  close(): Promise<void>;
}

/** One state of the credentials. */
export interface Way {
  readonly dispatcher: Dispatcher;
  readonly headers: Readonly<Record<string, string>>;
}

/** How long credentials are used before their source is looked at again. */
const credentialsMillis = 30_000;
/** A server that refuses everybody must not make us ask a plugin for each of its refusals. */
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

  /** True when something is different. What can not be read any more is as it was: it may just be being written. */
  async function reread(freshness: "cached" | "renew"): Promise<boolean> {
    const next = await kubeconfig.read(freshness).catch(() => access);
    read = performance.now();
    const old = { access, pools };
    access = next;
    if (poolText(next) !== poolText(old.access)) {
      pools = openPools(next);
      // What is under way ends where it began, and so does what is about to be sent.
      setTimeout(() => {
        for (const pool of [old.pools.requests, old.pools.watches]) void pool.close().catch(() => undefined);
      }, closeOldAfterMillis).unref();
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
      return pools.requests;
    },
    get watches() {
      return pools.watches;
    },
    headers,
    async way(role) {
      const now = await headers();
      return { dispatcher: pools[role], headers: now };
    },
    async renew(refused) {
      const current = () =>
        (pools.requests === refused.dispatcher || pools.watches === refused.dispatcher) &&
        headersText(access.headers) === headersText(refused.headers);
      if (!current()) return true;
      if (performance.now() - renewed >= renewEveryMillis || reading !== undefined) {
        renewed = performance.now();
        await once("renew");
      }
      return !current();
    },
    async close() {
      await Promise.all([pools.requests.destroy(), pools.watches.destroy()]);
    },
  };
}

function openPools({ proxy, tls }: Access): { readonly requests: Dispatcher; readonly watches: Dispatcher } {
  if (proxy?.startsWith("socks")) {
    throw new KubeconfigError("SOCKS proxies are not supported: use an http:// or https:// proxy-url");
  }
  const pool = (limits: { connections?: number }): Dispatcher => {
    // HTTP/1.1: on small JSON calls it costs both sides a little less than HTTP/2 streams do.
    // Under a debugger none is kept: after a pause they are closed, which whoever writes next would learn too late.
    const reuse = isDebugged() ? { pipelining: 0 } : { keepAliveTimeout: 60_000 };
    const common = { ...limits, ...reuse, allowH2: false };
    return proxy === undefined
      ? new Agent({ ...common, connect: { ...tls, timeout: 10_000 } })
      : new ProxyAgent({ ...common, uri: proxy, requestTls: tls });
  };
  return { requests: pool({ connections: maxConnections }), watches: pool({}) };
}

/** What pools are made of. */
const poolText = ({ proxy, tls }: Access): string =>
  JSON.stringify([
    proxy,
    ...Object.entries(tls).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? value.toString("base64") : value,
    ]),
  ]);

const headersText = (headers: Readonly<Record<string, string>>): string => JSON.stringify(headers);
