/** Who is let in: requests to this host, from our own page, of somebody who is logged in. */
import { timingSafeEqual } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import type { Env, Parts } from "../env.ts";
import { crowded, takePlace } from "../limited.ts";
import { refusal } from "../refusal.ts";
import { sessionCookie } from "./cookies.ts";
import { EndedError } from "./issuer.ts";

/** A page shows what it was told in this header: another site can neither read that nor send the header. */
export const csrfHeader = "x-denrei-csrf";

/** Refuses requests that name another host: a name of somebody else's could point here. */
export const ownHost = ({ url }: Pick<Parts, "url">): MiddlewareHandler => {
  const { host } = new URL(url);
  return async (c, next) => {
    if (c.req.header("host") !== host)
      return c.text(`expected a request to ${host}, found another host. Open ${url}\n`, 421);
    return next();
  };
};

/** Refuses what another site has a browser send. */
export const ownRequests =
  ({ url }: Pick<Parts, "url">): MiddlewareHandler =>
  async (c, next) => {
    const origin = c.req.header("origin");
    const site = c.req.header("sec-fetch-site");
    if (
      (origin !== undefined && origin !== url) ||
      (site !== undefined && !["same-origin", "none"].includes(site))
    )
      return c.json(
        refusal("CrossSite", "expected a request of the dashboard's own page, found one of another site"),
        403,
      );
    return next();
  };

/**
 * Lets in who is logged in, and who asks for a change with the page's own word. Users prove who they are for as many requests as they
 * may have at once: the connections of others give way to these.
 */
export const ofSession =
  (parts: Pick<Parts, "url" | "keys" | "sessions" | "connections" | "requests">): MiddlewareHandler<Env> =>
  async (c, next) => {
    const cookie = await sessionCookie.read(c, parts);
    const found = cookie && (await parts.sessions.find(cookie.id));
    if (found === undefined)
      return c.json(refusal("LoggedOut", "expected somebody who is logged in, found nobody"), 401);
    if (!["GET", "HEAD"].includes(c.req.method) && !isSame(found.session.csrf, c.req.header(csrfHeader)))
      return c.json(
        refusal("NoCsrfToken", `expected the page's token in ${csrfHeader}, found none or another`),
        403,
      );
    if (!takePlace(c, parts.requests, found.session.user)) return crowded(c, "requests", parts.requests);
    parts.connections.prove(c.env.incoming);
    await sessionCookie.renew(c, parts);
    c.set("session", found);
    return next();
  };

/** Goes on with a token that is valid for a while; stands behind {@link ofSession}. */
export const withToken =
  (parts: Parts): MiddlewareHandler<Env> =>
  async (c, next) => {
    try {
      c.set("session", await parts.fresh(c.get("session")));
    } catch (error) {
      if (!(error instanceof EndedError)) throw error;
      sessionCookie.clear(c, parts);
      return c.json(
        refusal("SessionEnded", "expected a session that lasts, found that it has ended: log in again"),
        401,
      );
    }
    return next();
  };

function isSame(expected: string, found: string | undefined): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(found ?? "")];
  return a.length === b.length && timingSafeEqual(a, b);
}
