/** Login and logout. */
import { type Context, Hono } from "hono";
import type { Env, Parts } from "../env.ts";
import type { LoginOutcome } from "../metrics.ts";
import { githubCookie, loginCookie, sessionCookie } from "./cookies.ts";
import { rejectCrossSite, requireSession } from "./guard.ts";
import { LoginError } from "./issuer.ts";
import { kubernetesUsername } from "./kubernetesusername.ts";
import { redirectPath } from "./redirecttarget.ts";
import { revokeToken } from "./refresh.ts";
import { sessionOf } from "./sessions.ts";
import { UnavailableError } from "./unavailable.ts";

const callbackPath = "/auth/callback";

/** `/auth/login` and `/auth/callback`, which always redirect to a page, and `DELETE /api/session`. */
export function loginRoutes(parts: Parts): Hono<Env> {
  const { url, issuer, sessions, apiServer, metrics, log } = parts;
  const app = new Hono<Env>();

  function failed(c: Context, error: Error, to: string) {
    const outcome = outcomeOf(error);
    log.warn({ err: error, outcome }, "login failed");
    metrics.logins.inc({ outcome });
    // A fixed word: anyone can put a message into a URL.
    return c.redirect(`/login-failed?${new URLSearchParams({ why: outcome, to })}`, 303);
  }

  app.get("/auth/login", async (c) => {
    const to = redirectPath(url, c.req.query("to"));
    try {
      const { url: location, login } = await issuer.begin(`${url}${callbackPath}`);
      await loginCookie.set(c, parts, { ...login, to });
      return c.redirect(location.href, 303);
    } catch (error) {
      return failed(c, error as Error, to);
    }
  });

  app.get(callbackPath, async (c) => {
    const pending = await loginCookie.read(c, parts);
    loginCookie.clear(c, parts);
    const callbackUrl = new URL(c.req.url);
    try {
      if (pending === undefined) throw new LoginError("interrupted", "this browser has no login in progress");
      const tokens = await issuer.finish(
        new URL(`${url}${callbackUrl.pathname}${callbackUrl.search}`),
        pending,
      );
      // End the browser's previous session: an attacker may have planted it.
      const before = await sessionCookie.read(c, parts);
      const old = before && (await sessions.end(before.id));
      await revokeToken(parts, old?.refreshToken);
      const name = await kubernetesUsername(apiServer, tokens.idToken);
      await sessionCookie.set(c, parts, { id: await sessions.begin({ ...sessionOf(tokens), name }) });
      log.info({ user: tokens.user, name }, "logged in");
      metrics.logins.inc({ outcome: "succeeded" });
      return c.redirect(pending.to, 303);
    } catch (error) {
      return failed(c, error as Error, pending?.to ?? "/");
    }
  });

  // Logout needs no valid token, so that it also works while the issuer is unavailable.
  app.delete("/api/session", rejectCrossSite(parts), requireSession(parts), async (c) => {
    const { id, session } = c.get("session");
    const last = await sessions.end(id);
    sessionCookie.clear(c, parts);
    loginCookie.clear(c, parts);
    githubCookie.clear(c, parts);
    const [logoutUrl] = await Promise.all([
      issuer.logoutUrl(session.user, `${url}/`).catch(() => undefined),
      revokeToken(parts, (last ?? session).refreshToken),
    ]);
    log.info({ user: session.user }, "logged out");
    return c.json({ goTo: logoutUrl?.href ?? "/" });
  });

  return app;
}

function outcomeOf(error: Error): LoginOutcome {
  if (error instanceof LoginError) return error.failure;
  if (error instanceof UnavailableError) return `${error.dependency}-unavailable`;
  return "refused";
}
