/**
 * `GET /api/access?ask=<verb>,<group>,<resource>,<subresource>,<namespace>&ask=…`: whether the user may do each of these, so that the
 * page can say it before the user tries. The API server decides again about every request.
 */
import { Hono } from "hono";
import type { Env, Parts } from "../env.ts";
import { errorBody } from "../errorbody.ts";
import { concurrencyLimiter } from "../limiter.ts";
import { limitConcurrency } from "../requestlimit.ts";
import { accessReviews, type ReviewedAction } from "./accessreviews.ts";

/** More than any page asks at once. */
const maxAsked = 40;
/** Requests per user. */
const maxAtOnce = 8;
const word = /^[a-z0-9.-]{0,253}$/;

/** `/api/access` */
export function accessRoutes({ apiServer }: Pick<Parts, "apiServer">): Hono<Env> {
  const may = accessReviews(apiServer);
  const app = new Hono<Env>();
  app.get("/api/access", limitConcurrency(concurrencyLimiter(maxAtOnce)), async (c) => {
    const actions = (c.req.queries("ask") ?? []).map(actionOf);
    const valid = actions.filter((action) => action !== undefined);
    if (valid.length !== actions.length || valid.length === 0 || valid.length > maxAsked)
      return c.json(
        errorBody(
          "NotAllowed",
          `The query needs 1 to ${maxAsked} parameters of the form ask=verb,group,resource,subresource,namespace.`,
        ),
        400,
      );
    const session = c.get("session");
    return c.json({ allowed: await Promise.all(valid.map((action) => may(session, action))) });
  });
  return app;
}

function actionOf(text: string): ReviewedAction | undefined {
  const parts = text.split(",");
  if (parts.length !== 5 || !parts.every((part) => word.test(part))) return undefined;
  const [verb = "", group = "", resource = "", subresource = "", namespace = ""] = parts;
  return { verb, group, resource, namespace, ...(subresource !== "" && { subresource }) };
}
