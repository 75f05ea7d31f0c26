/** Proxies requests from the page to the API server, with the user's token. */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Dispatcher } from "undici";
import type { Env, Parts } from "../env.ts";
import { errorBody } from "../errorbody.ts";
import { isInstallation } from "../github/installationaccess.ts";
import { checkInstallationWrite } from "../github/installationwrites.ts";
import { concurrencyLimiter } from "../limiter.ts";
import { limitConcurrency } from "../requestlimit.ts";
import { checkRequest } from "./allowlist.ts";
import { apiServerUnavailable, type PageError, tokenRejected } from "./responses.ts";

/** More than etcd accepts. Bytes. */
const maxBody = 2 * 1024 * 1024;

/** Concurrent requests per user: more than any page makes. */
const maxAtOnce = 32;

/** Query parameters that are forwarded. Watches and followed logs have their own routes. */
const queries = new Set([
  "limit",
  "continue",
  "labelSelector",
  "fieldSelector",
  "resourceVersion",
  "dryRun",
  "fieldValidation",
  "propagationPolicy",
  "container",
  "tailLines",
]);

const bodyTypes = new Set([
  "application/json",
  "application/merge-patch+json",
  "application/json-patch+json",
]);

/** Field manager of the writes. */
const fieldManager = "denrei-dashboard";

const prefix = "/api/kubernetes";

/** `/api/kubernetes/…`: the rest is a path of the Kubernetes API. */
export function proxyRoutes(parts: Pick<Parts, "apiServer" | "github" | "log">): Hono<Env> {
  const { apiServer, log } = parts;
  const app = new Hono<Env>();
  const limiter = concurrencyLimiter(maxAtOnce);
  const tooLarge = (c: Context) =>
    c.json(errorBody("TooLarge", `The body is larger than the limit of ${maxBody} bytes.`), 413);
  app.all(
    `${prefix}/*`,
    limitConcurrency(limiter),
    bodyLimit({ maxSize: maxBody, onError: tooLarge }),
    async (c) => {
      // Not decoded, so that the checked path is the one that is sent.
      const { pathname, searchParams } = new URL(c.req.raw.url);
      const path = pathname.slice(prefix.length);
      const checked = checkRequest(c.req.method, path);
      if ("status" in checked) return c.json(errorBody("NotAllowed", checked.message), checked.status);
      const query = new URLSearchParams([...searchParams].filter(([name]) => queries.has(name)));
      let body: string | undefined;
      const headers: Record<string, string> = { accept: "application/json" };
      if (["POST", "PATCH"].includes(c.req.method)) {
        const type = c.req.header("content-type") ?? "";
        if (!bodyTypes.has(type))
          return c.json(
            errorBody("NotAllowed", `The content type "${type}" is not one of ${[...bodyTypes].join(", ")}.`),
            400,
          );
        headers["content-type"] = type;
        body = await c.req.text();
        query.set("fieldManager", fieldManager);
        if (checked.rule.body) {
          const { schema, effect } = checked.rule.body;
          const result = schema.safeParse(parsed(body));
          if (!result.success)
            return c.json(errorBody("NotAllowed", `Only a change that ${effect} is allowed.`), 403);
          // Serialized again: of duplicate keys, the API server might use another one than this check.
          body = JSON.stringify(result.data);
        }
      }
      const send = (content: string | undefined, extraQuery: Record<string, string> = {}) => {
        const fullQuery = new URLSearchParams([...query, ...Object.entries(extraQuery)]);
        return apiServer.request({
          method: c.req.method as "GET",
          path: `${path}${fullQuery.size > 0 ? `?${fullQuery}` : ""}`,
          token: c.get("session").session.idToken,
          headers,
          body: content,
          signal: c.req.raw.signal,
          lasts: "short",
        });
      };
      let response: Dispatcher.ResponseData;
      try {
        const checkedWrite =
          body !== undefined && isInstallation(checked.target)
            ? await checkInstallationWrite(c, parts, {
                verb: checked.verb as "create" | "patch",
                contentType: headers["content-type"] ?? "",
                body,
                dryRun: (content) => send(content, { dryRun: "All" }),
              })
            : { body };
        if ("response" in checkedWrite) return checkedWrite.response;
        response = "apiResponse" in checkedWrite ? checkedWrite.apiResponse : await send(checkedWrite.body);
      } catch (error) {
        if (!c.req.raw.signal.aborted) log.warn({ err: error, path }, "API server unavailable");
        return errorResponse(c, apiServerUnavailable);
      }
      if (response.statusCode === 401) {
        await response.body.dump();
        return errorResponse(c, tokenRejected);
      }
      const retryAfter = response.headers["retry-after"];
      if (typeof retryAfter === "string") c.header("retry-after", retryAfter);
      const type = String(response.headers["content-type"] ?? "application/octet-stream");
      c.header("content-type", type.startsWith("application/json") ? type : "text/plain; charset=utf-8");
      return c.body(toStream(response.body), response.statusCode as 200);
    },
  );
  return app;
}

const errorResponse = (c: Context, { status, reason, message }: PageError): Response =>
  c.json(errorBody(reason, message), status as 503);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const toStream = (body: AsyncIterable<Uint8Array>): ReadableStream => ReadableStream.from(body);
