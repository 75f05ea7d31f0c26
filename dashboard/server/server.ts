/** The dashboard's server. Any number of replicas can run; they share all sessions. */
import type { Server } from "node:http";
import { createAdaptorServer, type HttpBindings } from "@hono/node-server";
import { type Bus, type BusOptions, ensureDashboard, streams } from "denrei/bus";
import type { KubeconfigSource } from "denrei/kubernetes";
import {
  defaultConnections,
  limitConnections,
  listenOn,
  type ReconcileFunction,
  startProcessClock,
  unreadMillis,
} from "denrei/runtime";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { dashboardApp } from "./app.ts";
import type { IssuerSettings } from "./auth/discovery.ts";
import { openIssuer } from "./auth/issuer.ts";
import { openKeys } from "./auth/keys.ts";
import { refresher } from "./auth/refresh.ts";
import { openSessions } from "./auth/sessions.ts";
import { startFunctionCounters } from "./bus/functioncounters.ts";
import { startLive } from "./bus/live.ts";
import { busNamespaces } from "./bus/namespaces.ts";
import { type GitHubSettings, openGitHub } from "./github/client.ts";
import { publicGitHub, webAddresses } from "./github/githuburls.ts";
import { openApiServer } from "./kubernetes/apiserver.ts";
import { concurrencyLimiter } from "./limiter.ts";
import { dashboardMetrics } from "./metrics.ts";

/** Event streams that a user may have open on a replica, over all windows. */
const maxStreams = 32;
/** Unfinished requests that a user may have on a replica, streams included. Exceeds the sum of the limits by kind of request. */
const maxRequests = 128;

/** Options of a dashboard. */
export interface DashboardOptions {
  readonly bus: Bus;
  readonly busOptions: BusOptions;
  /** Name of the cluster, on a bus that clusters share. */
  readonly cluster: string;
  /** The functions whose queues are shown. */
  readonly functions: readonly ReconcileFunction[];
  /** `host:port`; port 0 picks a free one. */
  readonly address: string;
  /** Public URL. Defaults to the listen address. */
  readonly url: string | undefined;
  readonly kubeconfig: KubeconfigSource;
  readonly issuer: Omit<IssuerSettings, "dashboardUrl">;
  /** The GitHub App with which users connect their accounts. Defaults to none. */
  readonly github?: GitHubSettings | undefined;
  /** Web addresses of the GitHubs on which users can create Apps. Defaults to github.com. */
  readonly githubUrls?: readonly string[];
  /** Path of the file with the session keys. */
  readonly keys: string;
  /** Folder of the built page. */
  readonly page: string;
  readonly log: Logger;
  readonly registry: Registry;
  /** Maximum number of connections. Defaults to {@link defaultConnections}. */
  readonly connections?: number;
  /** Overrides of {@link defaultTimes}. */
  readonly times?: Partial<RequestTimes>;
}

/** Timeouts, in milliseconds. */
export interface RequestTimes {
  /** To receive a request's headers, and the whole request. A response may take longer: streams stay open. */
  readonly headers: number;
  readonly request: number;
  /** For a browser that reads nothing of a response. */
  readonly unread: number;
  /** Interval of the timeout checks. */
  readonly look: number;
}

const defaultTimes: RequestTimes = { headers: 10_000, request: 30_000, unread: unreadMillis, look: 1000 };

/** A running dashboard. */
export interface Dashboard {
  /** Public URL. */
  readonly url: string;
  /** Why connections are rejected; undefined if they are accepted. */
  notReady(): string | undefined;
  /** Stops accepting connections, ends streams, and finishes pending requests. */
  stop(): Promise<void>;
}

/** Interval of reading the key file. Milliseconds. */
const rereadMillis = 2000;
/** On shutdown, requests that take longer are aborted. Milliseconds. */
const answerMillis = 7000;
/** On shutdown, interval of closing idle connections. Milliseconds. */
const idleMillis = 50;

/** Starts a dashboard; resolves when it listens. Throws `ConfigError`, `AddressError`, and `TopologyError`. */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { bus, cluster, functions, log } = options;
  const github = options.github && (await openGitHub(options.github));
  await ensureDashboard(bus, options.busOptions);
  const apiServer = await openApiServer(options.kubeconfig);
  const ending = new AbortController();
  const { signal } = ending;
  await startProcessClock({ bus, stream: streams.sessions, signal, log, registry: options.registry });
  let fetch: (request: Request, env: HttpBindings) => Response | Promise<Response> = () =>
    new Response(null, { status: 503 });
  const times = { ...defaultTimes, ...options.times };
  const server = createAdaptorServer({
    fetch: (request, env) => fetch(request, env as HttpBindings),
    serverOptions: {
      headersTimeout: times.headers,
      requestTimeout: times.request,
      connectionsCheckingInterval: times.look,
    },
  }) as Server;
  const connections = limitConnections(server, {
    name: "dashboard",
    limit: options.connections ?? defaultConnections,
    unreadMillis: times.unread,
    registry: options.registry,
  });
  const keys = await openKeys(options.keys, log, rereadMillis);
  const listening = await listenOn(server, options.address, "the dashboard", "--dashboard-address");
  const url = options.url ?? listening;
  const onError = (error: unknown): void => log.warn({ err: error }, "bus event not counted");
  const namespaces = busNamespaces(bus, cluster, functions);
  const counters = startFunctionCounters({ bus, cluster, functions, onError });
  const live = startLive({
    ...{ bus, cluster, functions, onError },
    onReconcile(fn, activity, { namespace }) {
      counters.reconciled(fn, activity);
      namespaces.add(namespace);
    },
  });
  const stopping = new AbortController();
  const issuer = openIssuer({ ...options.issuer, dashboardUrl: url });
  const sessions = openSessions(bus, keys);
  const metrics = dashboardMetrics(options.registry);
  const app = await dashboardApp(
    {
      url,
      issuer,
      sessions,
      refresh: refresher({ issuer, sessions, metrics, log }),
      keys,
      apiServer,
      github,
      githubUrls: webAddresses(options.githubUrls ?? [publicGitHub]),
      requests: concurrencyLimiter(maxRequests),
      streams: concurrencyLimiter(maxStreams),
      platform: { bus, cluster, functions, live, namespaces, counters },
      metrics,
      connections,
      stopping: stopping.signal,
      log,
    },
    options.page,
  );
  fetch = app.fetch;
  log.info({ url }, "dashboard ready");
  return {
    url,
    notReady: connections.refusing,
    async stop() {
      stopping.abort();
      live.stop();
      counters.stop();
      keys.stop();
      ending.abort();
      await drain(server, log);
      await apiServer.close();
    },
  };
}

/** Resolves when all pending requests are answered, or aborted after the timeout. */
async function drain(server: Server, log: Logger): Promise<void> {
  const late = setTimeout(() => {
    log.warn({ afterMillis: answerMillis }, "requests not finished in time, closing their connections");
    server.closeAllConnections();
  }, answerMillis);
  // Keep-alive connections become idle only after their response.
  const idle = setInterval(() => server.closeIdleConnections(), idleMillis);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(idle);
  clearTimeout(late);
}
