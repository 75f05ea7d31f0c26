/** What the parts of the server hand each other with a request. */
import type { HttpBindings } from "@hono/node-server";
import type { Logger } from "pino";
import type { Bus } from "../../bus/nats/connect.ts";
import type { Connections } from "../../bus/process/connections.ts";
import type { ReconcileFunction } from "../../bus/worker/function.ts";
import type { Issuer } from "./auth/issuer.ts";
import type { Key } from "./auth/keys.ts";
import type { Fresh } from "./auth/refresh.ts";
import type { OpenSession, Sessions } from "./auth/sessions.ts";
import type { Live } from "./bus/live.ts";
import type { GitHubClient } from "./github/client.ts";
import type { ApiServer } from "./kubernetes/apiserver.ts";
import type { DashboardMetrics } from "./metrics.ts";
import type { Places } from "./places.ts";

/** The bus, and what runs on it. */
export interface Platform {
  readonly bus: Bus;
  readonly cluster: string;
  readonly functions: readonly ReconcileFunction[];
  readonly live: Live;
}

/** What every part of the server is given. */
export interface Parts {
  /** Where browsers reach it, as they have it in `Origin`. */
  readonly url: string;
  readonly issuer: Issuer;
  readonly sessions: Sessions;
  /** Whoever needs a token goes on with what this gives. */
  readonly fresh: Fresh;
  /** What browsers keep is sealed with them. */
  readonly keys: () => readonly Key[];
  readonly apiServer: ApiServer;
  /** Undefined where the dashboard is no App there. */
  readonly github: GitHubClient | undefined;
  /** Everything that users have asked for and that is not answered to its end. */
  readonly requests: Places;
  /** Streams of events that are open. */
  readonly streams: Places;
  readonly platform: Platform;
  readonly metrics: DashboardMetrics;
  /** Those of people who are logged in are the last to be closed. */
  readonly connections: Connections;
  /** Aborts when streams are to end, because the process does. */
  readonly stopping: AbortSignal;
  readonly log: Logger;
}

/** Variables of a request, by Hono's convention. */
export interface Env {
  Bindings: HttpBindings;
  Variables: {
    /** Of whoever is logged in; set where {@link "./auth/guard.ts"} stands before. */
    session: OpenSession;
  };
}
