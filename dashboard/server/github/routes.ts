/** Connects GitHub accounts, and lists what they can see. The token is stored in the encrypted session. */
import { Hono } from "hono";
import { githubCookie } from "../auth/cookies.ts";
import { rejectCrossSite, requireSession } from "../auth/guard.ts";
import { redirectPath } from "../auth/redirecttarget.ts";
import type { OpenSession } from "../auth/sessions.ts";
import type { Env, Parts } from "../env.ts";
import { errorBody } from "../errorbody.ts";
import { addAppRoutes } from "./approutes.ts";
import { changeSession } from "./changesession.ts";
import type { ConnectedUser } from "./client.ts";
import { errorResponse, notConnected, notSetUp } from "./errorresponses.ts";

const callbackPath = "/auth/github/callback";

/** `/auth/github/…` for browsers and `/api/github…` for the page. */
export function githubRoutes(parts: Parts): Hono<Env> {
  const app = new Hono<Env>();
  addConnectRoutes(app, parts);
  addListRoutes(app, parts);
  addDisconnectRoute(app, parts);
  addAppRoutes(app, parts);
  return app;
}

function addConnectRoutes(app: Hono<Env>, parts: Parts): void {
  const { url, github, log } = parts;

  app.get("/auth/github/login", rejectCrossSite(parts), requireSession(parts), async (c) => {
    if (github === undefined) return c.json(notSetUp, 404);
    const { url: location, connection } = await github.begin(`${url}${callbackPath}`);
    const { id: session } = c.get("session");
    await githubCookie.set(c, parts, { ...connection, session, to: redirectPath(url, c.req.query("to")) });
    return c.redirect(location.href, 303);
  });

  app.get(callbackPath, requireSession(parts), async (c) => {
    if (github === undefined) return c.json(notSetUp, 404);
    const pending = await githubCookie.read(c, parts);
    githubCookie.clear(c, parts);
    const open = c.get("session");
    // Started in another session, or more than ten minutes ago.
    if (pending?.session !== open.id) return c.redirect(withOutcome("/", "failed"), 303);
    const callbackUrl = new URL(c.req.url);
    let user: ConnectedUser;
    try {
      user = await github.finish(new URL(`${url}${callbackUrl.pathname}${callbackUrl.search}`), pending);
    } catch (error) {
      log.warn({ err: error, user: open.session.user }, "connecting GitHub failed");
      return c.redirect(
        withOutcome(pending.to, callbackUrl.searchParams.has("error") ? "refused" : "failed"),
        303,
      );
    }
    await storeUser(parts, open, user);
    log.info({ user: open.session.user, github: user.login }, "GitHub connected");
    return c.redirect(withOutcome(pending.to, "connected"), 303);
  });
}

function addListRoutes(app: Hono<Env>, { github }: Parts): void {
  app.get("/api/github", (c) => {
    const login = c.get("session").session.github?.login;
    return c.json({ url: github?.url ?? null, login: login ?? null });
  });

  app.get("/api/github/installations", async (c) => {
    if (github === undefined) return c.json(notSetUp, 404);
    const token = c.get("session").session.github?.token;
    if (token === undefined) return c.json(notConnected, 403);
    try {
      return c.json({ installations: await github.installations(token, c.req.raw.signal) });
    } catch (error) {
      return errorResponse(c, error);
    }
  });

  app.get("/api/github/installations/:id/repositories", async (c) => {
    if (github === undefined) return c.json(notSetUp, 404);
    const token = c.get("session").session.github?.token;
    if (token === undefined) return c.json(notConnected, 403);
    const id = c.req.param("id");
    if (!/^[1-9]\d{0,14}$/.test(id))
      return c.json(errorBody("NotAllowed", `"${id}" is not the ID of an installation.`), 400);
    try {
      return c.json({ repositories: await github.repositories(token, Number(id), c.req.raw.signal) });
    } catch (error) {
      return errorResponse(c, error);
    }
  });
}

function addDisconnectRoute(app: Hono<Env>, parts: Parts): void {
  const { github, log } = parts;
  app.post("/api/github/disconnect", async (c) => {
    const open = c.get("session");
    const { github: user } = open.session;
    await storeUser(parts, open, undefined);
    if (user !== undefined && github !== undefined) {
      // The session has already forgotten the token.
      await github
        .revoke(user.token, AbortSignal.timeout(10_000))
        .catch((error: unknown) => log.warn({ err: error }, "GitHub token not revoked"));
      log.info({ user: open.session.user, github: user.login }, "GitHub disconnected");
    }
    return c.json({});
  });
}

/** Adds the outcome of the connection to the path. */
function withOutcome(path: string, outcome: "connected" | "refused" | "failed"): string {
  const { pathname, searchParams, hash } = new URL(path, "http://dashboard");
  searchParams.set("github", outcome);
  return `${pathname}?${searchParams}${hash}`;
}

/** Stores the user in the session, or removes it. */
const storeUser = (
  parts: Pick<Parts, "sessions">,
  open: OpenSession,
  user: ConnectedUser | undefined,
): Promise<unknown> =>
  changeSession(parts, open, ({ github: _, ...session }) => ({ ...session, ...(user && { github: user }) }));
