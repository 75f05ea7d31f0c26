/** What the parts of the server share. */
import type { HttpBindings } from "@hono/node-server";
import type { Bus } from "denrei/bus";
import type { Connections, ReconcileFunction } from "denrei/runtime";
import type { Logger } from "pino";
import type { Issuer } from "./auth/issuer.ts";
import type { Key } from "./auth/keys.ts";
import type { RefreshSession } from "./auth/refresh.ts";
import type { OpenSession, Sessions } from "./auth/sessions.ts";
import type { FunctionCounters } from "./bus/functioncounters.ts";
import type { Live } from "./bus/live.ts";
import type { BusNamespaces } from "./bus/namespaces.ts";
import type { GitHubClient } from "./github/client.ts";
import type { ApiServer } from "./kubernetes/apiserver.ts";
import type { ConcurrencyLimiter } from "./limiter.ts";
import type { DashboardMetrics } from "./metrics.ts";

/** The bus and the platform on it. */
export interface Platform {
  readonly bus: Bus;
  readonly cluster: string;
  readonly functions: readonly ReconcileFunction[];
  readonly live: Live;
  readonly namespaces: BusNamespaces;
  readonly counters: FunctionCounters;
}

/** The dependencies of the routes. */
export interface Parts {
  /** Public URL of the dashboard, as in the `Origin` header. */
  readonly url: string;
  readonly issuer: Issuer;
  readonly sessions: Sessions;
  /** Returns the session with a valid token, refreshed if necessary. */
  readonly refresh: RefreshSession;
  /** Encrypt cookies and sessions. */
  readonly keys: () => readonly Key[];
  readonly apiServer: ApiServer;
  /** Undefined if no GitHub App is configured. */
  readonly github: GitHubClient | undefined;
  /** Web addresses of the GitHubs on which Apps can be created. */
  readonly githubUrls: readonly string[];
  readonly requests: ConcurrencyLimiter;
  /** Limits the open event streams of a user. */
  readonly streams: ConcurrencyLimiter;
  readonly platform: Platform;
  readonly metrics: DashboardMetrics;
  /** Connections of logged-in users are the last to be closed. */
  readonly connections: Connections;
  /** Aborts when the process shuts down and streams must end. */
  readonly stopping: AbortSignal;
  readonly log: Logger;
}

/** Hono's environment. */
export interface Env {
  Bindings: HttpBindings;
  Variables: {
    /** Set by the middleware of {@link "./auth/guard.ts"}. */
    session: OpenSession;
  };
}
