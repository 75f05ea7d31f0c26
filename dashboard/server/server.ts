/** The dashboard's server: any number of replicas; what one of them knows about a session the others know. */
import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import type { Logger } from "pino";
import type { Bus } from "../../bus/connect.ts";
import type { KubeconfigSource } from "../../bus/kube/kubeconfig.ts";
import { listenOn } from "../../bus/process/listen.ts";
import { type BusOptions, ensureDashboard } from "../../bus/topology.ts";
import type { ReconcileFunction } from "../../bus/worker/function.ts";
import { dashboardApp } from "./app.ts";
import { type IssuerSettings, openIssuer } from "./auth/issuer.ts";
import { readKeys, sealer } from "./auth/keys.ts";
import { openSessions } from "./auth/sessions.ts";
import { startLive } from "./bus/live.ts";
import { type GitHubSettings, openGitHub } from "./github/client.ts";
import { openApiServer } from "./kubernetes/apiserver.ts";
import { places } from "./kubernetes/places.ts";

/** Streams of events that one session may have open here: of several windows. */
const maxStreams = 16;

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
}

/** A dashboard that listens. */
export interface Dashboard {
  /** Where browsers reach it. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a dashboard; resolves when it listens. Throws `ConfigError`, `AddressError` and `TopologyError`. */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { bus, cluster, functions, log } = options;
  const keys = await readKeys(options.keys);
  const github = options.github && (await openGitHub(options.github));
  await ensureDashboard(bus, options.busOptions);
  const apiServer = await openApiServer(options.kubeconfig);
  let fetch: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 503 });
  const server = createAdaptorServer({ fetch: (request) => fetch(request) }) as Server;
  const listening = await listenOn(server, options.address, "the dashboard", "--dashboard-address");
  const url = options.url ?? listening;
  const onError = (error: unknown): void => log.warn({ err: error }, "not counted");
  const live = startLive({ bus, cluster, functions, onError });
  const app = await dashboardApp(
    {
      url,
      issuer: openIssuer({ ...options.issuer, dashboardUrl: url }),
      sessions: openSessions(bus, () => keys),
      cookies: sealer(
        () => keys,
        ({ secret }) => secret,
      ),
      apiServer,
      github,
      streams: places(maxStreams),
      platform: { bus, cluster, functions, live },
      log,
    },
    options.page,
  );
  fetch = app.fetch;
  log.info({ url }, "dashboard ready");
  return {
    url,
    async stop() {
      live.stop();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await apiServer.close();
    },
  };
}
