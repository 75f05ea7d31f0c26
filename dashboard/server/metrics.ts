/** Metrics of the dashboard. */
import type { MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { Counter, Gauge, type Registry } from "prom-client";

/** Outcome of a login: `succeeded`, or the word for the failure that the page receives. */
export const loginOutcomes = [
  "succeeded",
  "denied",
  "interrupted",
  "refused",
  "issuer-unavailable",
  "bus-unavailable",
] as const;
export type LoginOutcome = (typeof loginOutcomes)[number];

const refreshOutcomes = ["refreshed", "ended", "unavailable"] as const;

/** The metrics of one process. */
export interface DashboardMetrics {
  readonly requests: Counter<"route" | "code">;
  readonly logins: Counter<"outcome">;
  readonly refreshes: Counter<"outcome">;
  /** Open streams: watches and logs. */
  readonly streams: Gauge;
}

/** Registers them. Each outcome starts at 0, so that alerts see the first increase. */
export function dashboardMetrics(registry: Registry): DashboardMetrics {
  const registers = [registry];
  const logins = new Counter({
    name: "denrei_dashboard_logins_total",
    help: "Finished logins, by outcome.",
    labelNames: ["outcome"] as const,
    registers,
  });
  for (const outcome of loginOutcomes) logins.inc({ outcome }, 0);
  const refreshes = new Counter({
    name: "denrei_dashboard_session_refreshes_total",
    help: "Token refreshes, by outcome: refreshed, ended (the session cannot continue), or away (the issuer is unavailable).",
    labelNames: ["outcome"] as const,
    registers,
  });
  for (const outcome of refreshOutcomes) refreshes.inc({ outcome }, 0);
  return {
    requests: new Counter({
      name: "denrei_dashboard_requests_total",
      help: "Requests from browsers, by route and status code. A stream is counted when it starts.",
      labelNames: ["route", "code"] as const,
      registers,
    }),
    logins,
    refreshes,
    streams: new Gauge({
      name: "denrei_dashboard_streams_open",
      help: "Open streams to pages: watches and logs.",
      registers,
    }),
  };
}

/** Counts every response. */
export const countRequests =
  ({ requests }: DashboardMetrics): MiddlewareHandler =>
  async (c, next) => {
    await next();
    // The most specific matching route. Routes are fixed in the code, which bounds the number of label values.
    const paths = matchedRoutes(c).map(({ path }) => path);
    const route = paths.reduce((longest, path) => (path.length > longest.length ? path : longest), "*");
    requests.inc({ route: nameOf(route), code: c.res.status });
  };

/** Starts the failure counters of each route at 0, so that alerts see the first increase. */
export function countFailures(
  { requests }: DashboardMetrics,
  routes: readonly { readonly path: string }[],
): void {
  for (const { path } of routes)
    for (const code of [502, 503]) requests.inc({ route: nameOf(path), code }, 0);
}

const nameOf = (route: string): string => route.replace(/^\/?\*$/, "page");
