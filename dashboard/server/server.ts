/** The dashboard's server: any number of replicas; what one of them knows about a session the others know. */
import type { Server } from "node:http";
import { createAdaptorServer, type HttpBindings } from "@hono/node-server";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { KubeconfigSource } from "../../bus/kube/kubeconfig.ts";
import type { Bus } from "../../bus/nats/connect.ts";
import { startProcessClock } from "../../bus/process/clock.ts";
import { defaultConnections, limitConnections } from "../../bus/process/connections.ts";
import { listenOn } from "../../bus/process/listen.ts";
import { unreadMillis } from "../../bus/process/unread.ts";
import { streams } from "../../bus/subjects.ts";
import { type BusOptions, ensureDashboard } from "../../bus/topology.ts";
import type { ReconcileFunction } from "../../bus/worker/function.ts";
import { dashboardApp } from "./app.ts";
import type { IssuerSettings } from "./auth/discovery.ts";
import { openIssuer } from "./auth/issuer.ts";
import { openKeys } from "./auth/keys.ts";
import { refresher } from "./auth/refresh.ts";
import { openSessions } from "./auth/sessions.ts";
import { startLive } from "./bus/live.ts";
import { type GitHubSettings, openGitHub } from "./github/client.ts";
import { openApiServer } from "./kubernetes/apiserver.ts";
import { dashboardMetrics } from "./metrics.ts";
import { places } from "./places.ts";

/** Streams of events that one user may have open here: of several windows. */
const maxStreams = 32;
/** Requests of one user that may be under way here, streams among them: more than the limits of all kinds of requests add up to. */
const maxRequests = 128;

/** What a dashboard needs. */
export interface DashboardOptions {
  readonly bus: Bus;
  readonly busOptions: BusOptions;
  /** Names the cluster on a bus that many clusters share. */
  readonly cluster: string;
  /** Whose queues are shown. */
  readonly functions: readonly ReconcileFunction[];
  /** `host:port`; port 0 takes any free one. */
  readonly address: string;
  /** Where browsers reach it; where it listens, unless given. */
  readonly url: string | undefined;
  readonly kubeconfig: KubeconfigSource;
  readonly issuer: Omit<IssuerSettings, "dashboardUrl">;
  /** The App that people connect their accounts with; none unless given. */
  readonly github?: GitHubSettings | undefined;
  /** Path of the file with the keys of sessions. */
  readonly keys: string;
  /** The folder with the built page. */
  readonly page: string;
  readonly log: Logger;
  readonly registry: Registry;
  /** How many connections there may be; {@link defaultConnections} unless given. */
  readonly connections?: number;
  /** What differs from {@link defaultTimes}. */
  readonly times?: Partial<RequestTimes>;
}

/** How long something may take, in milliseconds. */
export interface RequestTimes {
  /** The headers of a request, and the whole of it. Its answer may take longer: a stream of events lasts. */
  readonly headers: number;
  readonly request: number;
  /** A browser that takes nothing of an answer. */
  readonly unread: number;
  /** Between two checks of these limits. */
  readonly look: number;
}

const defaultTimes: RequestTimes = { headers: 10_000, request: 30_000, unread: unreadMillis, look: 1000 };

/** A dashboard that listens. */
export interface Dashboard {
  /** Where browsers reach it. */
  readonly url: string;
  /** Why connections are refused. */
  notReady(): string | undefined;
  /** Takes no more connections, ends streams, and answers what has begun. */
  stop(): Promise<void>;
}

/** Between two looks at the keys. Milliseconds. */
const rereadMillis = 2000;
/** At a stop, what is not answered by then is broken off. Milliseconds. */
const answerMillis = 7000;
/** At a stop, between two looks for connections that nobody uses any more. Milliseconds. */
const idleMillis = 50;

/** Starts a dashboard; resolves when it listens. Throws `ConfigError`, `AddressError` and `TopologyError`. */
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
  const onError = (error: unknown): void => log.warn({ err: error }, "not counted");
  const live = startLive({ bus, cluster, functions, onError });
  const stopping = new AbortController();
  const issuer = openIssuer({ ...options.issuer, dashboardUrl: url });
  const sessions = openSessions(bus, keys);
  const metrics = dashboardMetrics(options.registry);
  const app = await dashboardApp(
    {
      url,
      issuer,
      sessions,
      fresh: refresher({ issuer, sessions, metrics, log }),
      keys,
      apiServer,
      github,
      requests: places(maxRequests),
      streams: places(maxStreams),
      platform: { bus, cluster, functions, live },
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
      keys.stop();
      ending.abort();
      await closed(server, log);
      await apiServer.close();
    },
  };
}

/** Resolves when every request that has begun is answered, or has not been in time. */
async function closed(server: Server, log: Logger): Promise<void> {
  const late = setTimeout(() => {
    log.warn({ afterMillis: answerMillis }, "requests not answered in time, broken off");
    server.closeAllConnections();
  }, answerMillis);
  // A browser keeps its connection after the answer for which it is still open.
  const idle = setInterval(() => server.closeIdleConnections(), idleMillis);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(idle);
  clearTimeout(late);
}
