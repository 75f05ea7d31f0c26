/** Connecting an account at GitHub, and what it sees there. The token stays in the session, which is encrypted. */
import { Hono } from "hono";
import { githubCookie } from "../auth/cookies.ts";
import { ofSession, ownRequests } from "../auth/guard.ts";
import { pathWithin } from "../auth/pathwithin.ts";
import type { OpenSession, Session } from "../auth/sessions.ts";
import type { Env, Parts } from "../env.ts";
import { refusal } from "../refusal.ts";
import type { ConnectedUser } from "./client.ts";
import { notConnected, notSetUp, troubledBy } from "./troubles.ts";

const callbackPath = "/auth/github/callback";
/** Somebody else may write the session at the same time: a refresh, say. */
const attempts = 5;

/** `/auth/github/…`, for browsers, and `/api/github…`, for the page. */
export function githubRoutes(parts: Parts): Hono<Env> {
  const { url, github, log } = parts;
  const app = new Hono<Env>();

  app.get("/auth/github/login", ownRequests(parts), ofSession(parts), async (c) => {
    if (github === undefined) return c.json(notSetUp, 404);
    const { url: there, begun } = await github.begin(`${url}${callbackPath}`);
    const { id: session } = c.get("session");
    await githubCookie.set(c, parts, { ...begun, session, to: pathWithin(url, c.req.query("to")) });
    return c.redirect(there.href, 303);
  });

  app.get(callbackPath, ofSession(parts), async (c) => {
    if (github === undefined) return c.json(notSetUp, 404);
    const begun = await githubCookie.read(c, parts);
    githubCookie.clear(c, parts);
    const open = c.get("session");
    // A connection that was begun in another session, or too long ago.
    if (begun?.session !== open.id) return c.redirect(toldOf("/", "failed"), 303);
    const came = new URL(c.req.url);
    let user: ConnectedUser;
    try {
      user = await github.finish(new URL(`${url}${came.pathname}${came.search}`), begun);
    } catch (error) {
      log.warn({ err: error, user: open.session.user }, "connecting GitHub failed");
      return c.redirect(toldOf(begun.to, came.searchParams.has("error") ? "refused" : "failed"), 303);
    }
    await keep(parts, open, user);
    log.info({ user: open.session.user, github: user.login }, "GitHub connected");
    return c.redirect(toldOf(begun.to, "connected"), 303);
  });

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
      return troubledBy(c, error);
    }
  });

  app.get("/api/github/installations/:id/repositories", async (c) => {
    if (github === undefined) return c.json(notSetUp, 404);
    const token = c.get("session").session.github?.token;
    if (token === undefined) return c.json(notConnected, 403);
    const id = c.req.param("id");
    if (!/^[1-9]\d{0,14}$/.test(id))
      return c.json(refusal("NotAllowed", `expected the id of an installation, found "${id}"`), 400);
    try {
      return c.json({ repositories: await github.repositories(token, Number(id), c.req.raw.signal) });
    } catch (error) {
      return troubledBy(c, error);
    }
  });

  app.post("/api/github/disconnect", async (c) => {
    const open = c.get("session");
    const { github: user } = open.session;
    await keep(parts, open, undefined);
    if (user !== undefined && github !== undefined) {
      // It is forgotten here in any case.
      await github
        .revoke(user.token, AbortSignal.timeout(10_000))
        .catch((error: unknown) => log.warn({ err: error }, "GitHub has not taken back a token"));
      log.info({ user: open.session.user, github: user.login }, "GitHub disconnected");
    }
    return c.json({});
  });

  return app;
}

/** The path, with what has become of the connection. */
function toldOf(path: string, outcome: "connected" | "refused" | "failed"): string {
  const { pathname, searchParams, hash } = new URL(path, "http://dashboard");
  searchParams.set("github", outcome);
  return `${pathname}?${searchParams}${hash}`;
}

/** Writes who is connected into the session as it is now. Throws when it is written by others all the time. */
async function keep(
  { sessions }: Pick<Parts, "sessions">,
  open: OpenSession,
  user: ConnectedUser | undefined,
): Promise<void> {
  let current: OpenSession | undefined = open;
  for (let attempt = 0; attempt < attempts && current !== undefined; attempt++) {
    const { github: _, ...session }: Session = current.session;
    const outcome = await sessions.update(current, { ...session, ...(user && { github: user }) });
    if (outcome !== "overtaken") return;
    current = await sessions.find(open.id);
  }
  throw new Error(
    "expected to write the session, found that it has ended or that others write it all the time",
  );
}
