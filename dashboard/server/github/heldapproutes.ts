/** What GitHub says about an App, for users who may read its key. */
import { GitHubError, GitHubUrlError, PrivateKeyError } from "denrei/github";
import type { Context, Hono } from "hono";
import { type AppInstallation, type RegisteredAppView, webhookSecretName } from "../../api/githubapp.ts";
import type { Env, Parts } from "../env.ts";
import { errorBody } from "../errorbody.ts";
import { errorResponse } from "./errorresponses.ts";
import { publicGitHub } from "./githuburls.ts";
import { type HeldApp, heldApp, isObjectName } from "./keyholder.ts";

const pagesOf = (url: string, slug: string): string =>
  `${url}/${url === publicGitHub ? "apps" : "github-apps"}/${slug}`;

/** `/api/github/apps/<namespace>/<name>…` */
export function addHeldAppRoutes(app: Hono<Env>, parts: Pick<Parts, "apiServer" | "githubUrls">): void {
  app.get("/api/github/apps/:namespace/:name", (c) =>
    withApp(c, parts, async ({ url, client, data }): Promise<RegisteredAppView> => {
      const { slug, name: appName } = await client.self(c.req.raw.signal);
      const isWebhookSecretKept = Object.hasOwn(data, webhookSecretName);
      return { appName, url, install: `${pagesOf(url, slug)}/installations/new`, isWebhookSecretKept };
    }),
  );

  app.get("/api/github/apps/:namespace/:name/installations/:id{[1-9][0-9]{0,14}}", (c) =>
    withApp(c, parts, async ({ url, client }): Promise<AppInstallation> => {
      const { id, account, repositorySelection } = await client.installation(
        Number(c.req.param("id")),
        c.req.raw.signal,
      );
      return { id, account: account?.login ?? "", repositorySelection, url };
    }),
  );
}

/** Opens the App of the path. Errors of the API server become responses in `app.ts`. */
async function withApp(
  c: Context<Env>,
  { apiServer, githubUrls }: Pick<Parts, "apiServer" | "githubUrls">,
  view: (app: HeldApp) => Promise<object>,
): Promise<Response> {
  const at = { namespace: c.req.param("namespace") ?? "", name: c.req.param("name") ?? "" };
  if (!isObjectName(at.namespace) || !isObjectName(at.name))
    return c.json(errorBody("NotAllowed", "This is not the name of a GitHubApp."), 400);
  const user = { apiServer, token: c.get("session").session.idToken };
  try {
    return c.json(await view(await heldApp(user, at, githubUrls)));
  } catch (error) {
    if (error instanceof PrivateKeyError)
      return c.json(errorBody("KeyInvalid", "The Secret of this App has no valid private key."), 409);
    if (error instanceof GitHubUrlError)
      return c.json(
        errorBody("GitHubNotAllowed", "The App is on a GitHub that this dashboard does not know."),
        409,
      );
    if (error instanceof GitHubError && error.status === 401)
      return c.json(errorBody("KeyRejected", "GitHub does not accept the private key of this App."), 409);
    return errorResponse(c, error);
  }
}
