/** The server as a function from requests to responses. */
import { Installation } from "@denrei/functions/ghapp/kinds";
import { Hono } from "hono";
import { rejectCrossSite, requireOwnHost, requireSession, withFreshToken } from "./auth/guard.ts";
import { loginRoutes } from "./auth/login.ts";
import { UnavailableError } from "./auth/unavailable.ts";
import { busRoutes } from "./bus/routes.ts";
import type { Env, Parts } from "./env.ts";
import { errorBody, failedBody } from "./errorbody.ts";
import { checkInstallationWrite } from "./github/installationwrites.ts";
import { githubRoutes } from "./github/routes.ts";
import { accessRoutes } from "./kubernetes/access.ts";
import { NoAnswerError } from "./kubernetes/apiserver.ts";
import { logRoutes } from "./kubernetes/log.ts";
import { nameRoutes } from "./kubernetes/names.ts";
import { namespaceRoutes } from "./kubernetes/namespaces.ts";
import { proxyRoutes, type WriteCheck } from "./kubernetes/proxy.ts";
import { pageErrorOf, RejectedError } from "./kubernetes/responses.ts";
import { usageRoutes } from "./kubernetes/usage.ts";
import { watchRoutes } from "./kubernetes/watch.ts";
import { countFailures, countRequests } from "./metrics.ts";
import { pageRoutes, readPage, securityHeaders, versionHeader } from "./page.ts";

/** Assembles the app. `pageFolder` holds the built page. */
export async function dashboardApp(parts: Parts, pageFolder: string): Promise<Hono<Env>> {
  const page = await readPage(pageFolder);
  const app = new Hono<Env>();
  app.use(countRequests(parts.metrics));
  app.use(securityHeaders(parts));
  app.use(requireOwnHost(parts));
  app.onError((error, c) => {
    if (error instanceof RejectedError || error instanceof NoAnswerError) {
      const { status, ...body } = pageErrorOf(error);
      if (status >= 500) parts.log.warn({ err: error, path: c.req.path }, "API server unavailable");
      return c.json(body, status as 503);
    }
    parts.log.error({ err: error, method: c.req.method, path: c.req.path }, "request failed");
    if (error instanceof UnavailableError) return c.json(errorBody(error.reason, error.message), 503);
    return c.json(failedBody, 502);
  });
  app.route("/", loginRoutes(parts));
  app.use("/api/*", versionHeader(page));
  app.use("/api/*", rejectCrossSite(parts), requireSession(parts));
  // Works while the issuer is unavailable.
  app.get("/api/session", (c) => {
    const { user, name = user, csrf } = c.get("session").session;
    return c.json({ user: name, csrf });
  });
  app.use("/api/*", withFreshToken(parts));
  app.route("/", busRoutes(parts));
  app.route("/", githubRoutes(parts));
  app.route("/", namespaceRoutes(parts));
  app.route("/", accessRoutes(parts));
  app.route("/", watchRoutes(parts));
  app.route("/", logRoutes(parts));
  app.route("/", nameRoutes(parts));
  app.route("/", usageRoutes(parts));
  app.route("/", proxyRoutes({ ...parts, checks: [installationCheck(parts)] }));
  app.all("/api/*", (c) => c.json(errorBody("NotFound", "The dashboard has no such API path."), 404));
  app.route("/", pageRoutes(page));
  countFailures(parts.metrics, app.routes);
  return app;
}

/** An Installation gives a GitHub App access to repositories, so GitHub decides about its writes, too. */
const installationCheck = (parts: Parts): WriteCheck => ({
  kind: Installation,
  check: (c, write) => checkInstallationWrite(c, parts, write),
});
