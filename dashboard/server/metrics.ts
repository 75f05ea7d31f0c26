/** What an operator counts of a dashboard. */
import type { MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { Counter, Gauge, type Registry } from "prom-client";

/** How a login has ended: `succeeded`, or the word that the page is given of what was wrong. */
export const loginOutcomes = [
  "succeeded",
  "denied",
  "interrupted",
  "refused",
  "issuer-away",
  "bus-away",
] as const;
export type LoginOutcome = (typeof loginOutcomes)[number];

const refreshOutcomes = ["refreshed", "ended", "away"] as const;

/** The metrics of one process. */
export interface DashboardMetrics {
  readonly requests: Counter<"route" | "code">;
  readonly logins: Counter<"outcome">;
  readonly refreshes: Counter<"outcome">;
  /** Streams that are open: watches and logs. */
  readonly streams: Gauge;
}

/** Registers them; what somebody is to be told of is there before it happens, or the first time would be no increase. */
export function dashboardMetrics(registry: Registry): DashboardMetrics {
  const registers = [registry];
  const logins = new Counter({
    name: "denrei_dashboard_logins_total",
    help: "Logins that have ended, by outcome.",
    labelNames: ["outcome"] as const,
    registers,
  });
  for (const outcome of loginOutcomes) logins.inc({ outcome }, 0);
  const refreshes = new Counter({
    name: "denrei_dashboard_session_refreshes_total",
    help: "Tokens asked of the issuer for sessions, by outcome: ended is a session, and away the issuer.",
    labelNames: ["outcome"] as const,
    registers,
  });
  for (const outcome of refreshOutcomes) refreshes.inc({ outcome }, 0);
  return {
    requests: new Counter({
      name: "denrei_dashboard_requests_total",
      help: "Requests of browsers, by route and status code. A stream counts when it begins.",
      labelNames: ["route", "code"] as const,
      registers,
    }),
    logins,
    refreshes,
    streams: new Gauge({
      name: "denrei_dashboard_streams_open",
      help: "Streams to pages that are open: watches and logs.",
      registers,
    }),
  };
}

/** Counts every answer. */
export const countRequests =
  ({ requests }: DashboardMetrics): MiddlewareHandler =>
  async (c, next) => {
    await next();
    // The most exact of those that match: there are as many as there are in the code, whatever is asked for.
    const paths = matchedRoutes(c).map(({ path }) => path);
    const route = paths.reduce((longest, path) => (path.length > longest.length ? path : longest), "*");
    requests.inc({ route: nameOf(route), code: c.res.status });
  };

/** Begins to count the failures of each route: an increase is seen from a figure that is there before. */
export function countFailures(
  { requests }: DashboardMetrics,
  routes: readonly { readonly path: string }[],
): void {
  for (const { path } of routes)
    for (const code of [502, 503]) requests.inc({ route: nameOf(path), code }, 0);
}

const nameOf = (route: string): string => route.replace(/^\/?\*$/, "page");
