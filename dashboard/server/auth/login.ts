/** Logging in and out. */
import { randomBytes } from "node:crypto";
import { Hono } from "hono";
import type { Env, Parts } from "../env.ts";
import { loginCookie, sessionCookie } from "./cookies.ts";
import { loggedIn, ownRequests } from "./guard.ts";
import type { Tokens } from "./issuer.ts";
import { sessionOf } from "./sessions.ts";

const callbackPath = "/auth/callback";

/** `/auth/login`, `/auth/callback` and `/auth/logout`. */
export function loginRoutes(parts: Parts): Hono<Env> {
  const { url, issuer, sessions, log } = parts;
  const app = new Hono<Env>();

  app.get("/auth/login", async (c) => {
    const { url: there, login } = await issuer.begin(`${url}${callbackPath}`);
    await loginCookie.set(c, parts, { ...login, to: pathWithin(url, c.req.query("to")) });
    return c.redirect(there.href, 303);
  });

  app.get(callbackPath, async (c) => {
    const begun = await loginCookie.read(c, parts);
    loginCookie.clear(c, parts);
    // A login that nobody here has begun, or too long ago: begun anew it is theirs.
    if (begun === undefined) return c.redirect("/auth/login", 303);
    const came = new URL(c.req.url);
    let tokens: Tokens;
    try {
      tokens = await issuer.finish(new URL(`${url}${came.pathname}${came.search}`), begun);
    } catch (error) {
      log.warn({ err: error }, "login refused");
      return c.redirect("/login-failed", 303);
    }
    // What this browser may have had before ends: nobody can have planted it.
    const before = await sessionCookie.read(c, parts);
    const old = before && (await sessions.find(before.id));
    if (old) await sessions.end(old);
    const id = await sessions.begin({ ...sessionOf(tokens), csrf: randomBytes(18).toString("base64url") });
    await sessionCookie.set(c, parts, { id });
    log.info({ user: tokens.user }, "logged in");
    return c.redirect(begun.to, 303);
  });

  app.post("/auth/logout", ownRequests(parts), loggedIn(parts), async (c) => {
    const open = c.get("session");
    await sessions.end(open);
    sessionCookie.clear(c, parts);
    const there = await issuer.logoutUrl(open.session.idToken, `${url}/`).catch(() => undefined);
    log.info({ user: open.session.user }, "logged out");
    return c.json({ goTo: there?.href ?? "/" });
  });

  return app;
}

/** A path here; `/` for whatever else a link may have said, so that nobody is sent on to another site. */
export function pathWithin(url: string, to: string | undefined): string {
  if (to === undefined || !URL.canParse(to, url)) return "/";
  const { origin, pathname, search, hash } = new URL(to, url);
  // Two slashes begin the name of a host.
  if (origin !== url || pathname.startsWith("//")) return "/";
  return `${pathname}${search}${hash}`;
}
