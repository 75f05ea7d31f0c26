/** Access checks: requests must be for this host, from the dashboard's own page, and in a valid session. */
import { timingSafeEqual } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import type { Env, Parts } from "../env.ts";
import { errorBody } from "../errorbody.ts";
import { acquireSlot, tooManyRequests } from "../requestlimit.ts";
import { sessionCookie } from "./cookies.ts";
import { SessionEndedError } from "./issuer.ts";

/** The page returns the session's CSRF token in this header. Another site can neither read the token nor set the header. */
export const csrfHeader = "x-denrei-csrf";

/** Rejects requests for another host name, against DNS rebinding. */
export const requireOwnHost = ({ url }: Pick<Parts, "url">): MiddlewareHandler => {
  const { host } = new URL(url);
  return async (c, next) => {
    if (c.req.header("host") !== host)
      return c.text(`wrong host: this dashboard is served at ${host}. Open ${url}\n`, 421);
    return next();
  };
};

/** Rejects requests that another site makes a browser send. */
export const rejectCrossSite =
  ({ url }: Pick<Parts, "url">): MiddlewareHandler =>
  async (c, next) => {
    const origin = c.req.header("origin");
    const site = c.req.header("sec-fetch-site");
    if (
      (origin !== undefined && origin !== url) ||
      (site !== undefined && !["same-origin", "none"].includes(site))
    )
      return c.json(errorBody("CrossSite", "This request came from another site, so it was rejected."), 403);
    return next();
  };

/**
 * Requires a session, and the CSRF token for a change. Counts the request against the user's limit, and marks its connection: those
 * of logged-in users are the last to be closed when there are too many.
 */
export const requireSession =
  (parts: Pick<Parts, "url" | "keys" | "sessions" | "connections" | "requests">): MiddlewareHandler<Env> =>
  async (c, next) => {
    const cookie = await sessionCookie.read(c, parts);
    const found = cookie && (await parts.sessions.find(cookie.id));
    if (found === undefined) return c.json(errorBody("LoggedOut", "You are not logged in."), 401);
    if (!["GET", "HEAD"].includes(c.req.method) && !isSame(found.session.csrf, c.req.header(csrfHeader)))
      return c.json(
        errorBody("NoCsrfToken", `The header ${csrfHeader} is missing or wrong. Reload the page.`),
        403,
      );
    if (!acquireSlot(c, parts.requests, found.session.user))
      return tooManyRequests(c, "requests", parts.requests);
    parts.connections.prove(c.env.incoming);
    await sessionCookie.renew(c, parts);
    c.set("session", found);
    return next();
  };

/** Refreshes the session's token if it expires soon. Must run after {@link requireSession}. */
export const withFreshToken =
  (parts: Parts): MiddlewareHandler<Env> =>
  async (c, next) => {
    try {
      c.set("session", await parts.refresh(c.get("session")));
    } catch (error) {
      if (!(error instanceof SessionEndedError)) throw error;
      sessionCookie.clear(c, parts);
      return c.json(errorBody("SessionEnded", "The session has expired. Log in again."), 401);
    }
    return next();
  };

function isSame(expected: string, found: string | undefined): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(found ?? "")];
  return a.length === b.length && timingSafeEqual(a, b);
}
