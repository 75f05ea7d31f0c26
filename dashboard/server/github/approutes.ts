/**
 * Creating a GitHub App from the page. The page posts a manifest to GitHub, which creates the App and redirects back with a code. The
 * server exchanges the code for the App's keys, and stores them with the user's rights. The browser never gets a key.
 */
import type { Context, Hono, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type AppOutcome, newAppSchema } from "../../api/githubapp.ts";
import { requireSession, withFreshToken } from "../auth/guard.ts";
import type { Env, Parts } from "../env.ts";
import { errorBody } from "../errorbody.ts";
import { accessReviews, type Review } from "../kubernetes/accessreviews.ts";
import { discardApp, finishApp, settingsOf, startApp, takeState } from "./appflow.ts";
import { addHeldAppRoutes } from "./heldapproutes.ts";
import { callbackPath } from "./manifestflow.ts";

/** More than any form of the page sends. Bytes. */
const maxBody = 16 * 1024;

/** The screen with the form. */
const formPath = "/github/new-app";

/** `/auth/github/app/callback` for browsers, and `/api/github/apps…` for the page. */
export function addAppRoutes(app: Hono<Env>, parts: Parts): void {
  const may = accessReviews(parts.apiServer);
  addCallbackRoute(app, parts);
  addFormRoutes(app, parts, may);
  addHeldAppRoutes(app, parts);
}

const failedTo = (outcome: AppOutcome): string => `${formPath}?${new URLSearchParams({ outcome })}`;

/** A browser that GitHub redirects gets a page, also without a session. */
const orToPage =
  (guard: MiddlewareHandler<Env>): MiddlewareHandler<Env> =>
  async (c, next) => {
    const rejected = await guard(c, next);
    return rejected?.status === 401 ? c.redirect(failedTo("session"), 303) : rejected;
  };

function addCallbackRoute(app: Hono<Env>, parts: Parts): void {
  app.get(callbackPath, orToPage(requireSession(parts)), orToPage(withFreshToken(parts)), async (c) => {
    const { code = "", state = "" } = c.req.query();
    const pending = await takeState(parts, c.get("session"), state);
    if (pending === undefined) return c.redirect(failedTo("session"), 303);
    if (code === "") return c.redirect(failedTo("code"), 303);
    const finished = await finishApp(parts, await current(c, parts), { ...pending, rest: { code } });
    return c.redirect("outcome" in finished ? failedTo(finished.outcome) : screenOf(finished), 303);
  });
}

const screenOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `/github/app/${namespace}/${name}`;

/** The session after the flow has changed it. */
async function current(c: Context<Env>, { sessions }: Pick<Parts, "sessions">) {
  const open = c.get("session");
  return (await sessions.find(open.id)) ?? open;
}

function addFormRoutes(app: Hono<Env>, parts: Parts, may: Review): void {
  app.get("/api/github/apps", (c) => c.json(settingsOf(parts, c.get("session").session)));

  const limit = bodyLimit({
    maxSize: maxBody,
    onError: (c) =>
      c.json(errorBody("TooLarge", `The body is larger than the limit of ${maxBody} bytes.`), 413),
  });
  app.post("/api/github/apps", limit, async (c) => {
    const input = newAppSchema.safeParse(await c.req.json().catch(() => undefined));
    if (!input.success || !parts.githubUrls.includes(input.data.url))
      return c.json(errorBody("NotAllowed", "The body is not a new App on a GitHub of this dashboard."), 400);
    const started = await startApp(parts, c.get("session"), input.data, may);
    return "problem" in started ? c.json(started.problem, 409) : c.json(started.form);
  });

  app.post("/api/github/apps/finish", async (c) => {
    const open = c.get("session");
    const pending = open.session.githubApp;
    if (pending?.rest === undefined || pending.endsAt <= Date.now())
      return c.json(
        errorBody("NotFound", "There is no App to finish. It may have been forgotten after an hour."),
        404,
      );
    const finished = await finishApp(parts, open, pending);
    return "outcome" in finished
      ? c.json(errorBody("NotStored", finished.message), 409)
      : c.json({ goTo: screenOf(finished) });
  });

  app.delete("/api/github/apps/unstored", async (c) => {
    await discardApp(parts, c.get("session"));
    return c.json({});
  });
}
