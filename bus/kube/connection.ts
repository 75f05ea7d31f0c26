/**
 * The way to the API server: which one, as whom, over which pooled connections.
 *
 * `@kubernetes/client-node` reads every form of kubeconfig and refreshes its credentials; requests go to undici
 * directly, because the library as it comes builds a dispatcher, and so a TLS handshake, for every call.
 */
import { existsSync } from "node:fs";
import { KubeConfig } from "@kubernetes/client-node";
import { Agent, type Dispatcher, ProxyAgent } from "undici";

/** An authenticated way to one API server. */
export interface KubeConnection {
  /** `https://host:port`, and a path prefix if there is one. */
  readonly server: string;
  /** The namespace of the kubeconfig's context. */
  readonly namespace: string;
  /** Connections for requests: few and kept. */
  readonly requests: Dispatcher;
  /** Connections for watches, which each hold one for minutes. */
  readonly watches: Dispatcher;
  /** The `authorization` header, if the user has one. `renew` asks for a fresh one after a 401. */
  authorization(freshness: "cached" | "renew"): Promise<string | undefined>;
  close(): Promise<void>;
}

/** The kubeconfig names no usable server. */
export class KubeconfigError extends Error {
  override readonly name = "KubeconfigError";
}

/** Where the configuration comes from. */
export interface KubeconfigSource {
  /** Path of a kubeconfig. Default: KUBECONFIG, then `~/.kube/config`, then the pod's service account. */
  readonly path?: string | undefined;
  /** Context to use instead of the current one. */
  readonly context?: string | undefined;
}

/** How long credentials of exec plugins and token files are used before they are asked for again. */
const credentialsMillis = 30_000;
const maxConnections = 16;

/** Reads a kubeconfig. Throws {@link KubeconfigError} with what was looked for. */
export function loadKubeconfig(source: KubeconfigSource = {}): KubeConfig {
  const config = new KubeConfig();
  const { path } = source;
  if (path !== undefined && !existsSync(path)) {
    throw new KubeconfigError(
      `expected a kubeconfig at ${path}, found no file. Set --kubeconfig or KUBECONFIG.`,
    );
  }
  try {
    if (path === undefined) config.loadFromDefault();
    else config.loadFromFile(path);
    if (source.context !== undefined) config.setCurrentContext(source.context);
  } catch (error) {
    throw new KubeconfigError(`the kubeconfig ${path ?? ""} can not be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  // Without any configuration the library falls back to http://localhost:8080, which nobody means.
  const cluster = config.getCurrentCluster();
  if (cluster === null || cluster.server === "http://localhost:8080") {
    throw new KubeconfigError(
      `expected a kubeconfig with a current context, found ${cluster === null ? `none (context "${config.getCurrentContext()}")` : "no configuration at all"}. ` +
        "Set KUBECONFIG or --kubeconfig, or run inside a pod; `denrei up` starts a local control plane.",
    );
  }
  return config;
}

/** Opens pooled connections to the current cluster of a kubeconfig. */
export async function openConnection(config: KubeConfig): Promise<KubeConnection> {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new KubeconfigError("the kubeconfig has no current cluster");
  const options: Parameters<KubeConfig["applyToHTTPSOptions"]>[0] = {};
  await config.applyToHTTPSOptions(options);
  const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = options as Record<string, never>;
  const tls = defined({ ca, cert, key, pfx, passphrase, rejectUnauthorized, servername });
  const way = config.createDispatcherOptions(cluster, tls);
  const pool = (limits: { connections?: number }): Dispatcher => {
    // HTTP/1.1: on small JSON calls it costs both sides a little less than HTTP/2 streams do.
    const common = { ...limits, allowH2: false, keepAliveTimeout: 60_000 };
    if (way.type === "proxy") return new ProxyAgent({ ...common, uri: way.uri, requestTls: tls });
    if (way.type === "socks") {
      throw new KubeconfigError("SOCKS proxies are not supported: use an http:// or https:// proxy-url");
    }
    return new Agent({ ...common, connect: { ...tls, timeout: 10_000 } });
  };
  const requests = pool({ connections: maxConnections });
  const watches = pool({});
  let known: { header: string | undefined; until: number } | undefined;
  return {
    server: cluster.server.replace(/\/$/, ""),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? "default",
    requests,
    watches,
    async authorization(freshness) {
      if (known === undefined || freshness === "renew" || performance.now() > known.until) {
        const fresh: Parameters<KubeConfig["applyToHTTPSOptions"]>[0] = {};
        await config.applyToHTTPSOptions(fresh);
        const { headers, auth } = fresh as { headers?: Record<string, string>; auth?: string };
        const basic = auth && `Basic ${Buffer.from(auth).toString("base64")}`;
        known = { header: headers?.Authorization ?? basic, until: performance.now() + credentialsMillis };
      }
      return known.header;
    },
    async close() {
      await Promise.all([requests.destroy(), watches.destroy()]);
    },
  };
}

const defined = <T extends object>(object: T): T =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
