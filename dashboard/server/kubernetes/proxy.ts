/** Proxies requests from the page to the API server, with the user's token. */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Dispatcher } from "undici";
import type { Env, Parts } from "../env.ts";
import { isInstallation } from "../github/grants.ts";
import { lookedAt } from "../github/installations.ts";
import { limited } from "../limited.ts";
import { places } from "../places.ts";
import { refusal } from "../refusal.ts";
import { judge } from "./allowlist.ts";
import { apiServerAway, type Trouble, tokenRefused } from "./answers.ts";

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
  const atOnce = places(maxAtOnce);
  const tooLarge = (c: Context) =>
    c.json(refusal("TooLarge", `The body is larger than the limit of ${maxBody} bytes.`), 413);
  app.all(`${prefix}/*`, limited(atOnce), bodyLimit({ maxSize: maxBody, onError: tooLarge }), async (c) => {
    // Not decoded, so that the checked path is the one that is sent.
    const { pathname, searchParams } = new URL(c.req.raw.url);
    const path = pathname.slice(prefix.length);
    const judged = judge(c.req.method, path);
    if ("status" in judged) return c.json(refusal("NotAllowed", judged.message), judged.status);
    const query = new URLSearchParams([...searchParams].filter(([name]) => queries.has(name)));
    let body: string | undefined;
    const headers: Record<string, string> = { accept: "application/json" };
    if (["POST", "PATCH"].includes(c.req.method)) {
      const type = c.req.header("content-type") ?? "";
      if (!bodyTypes.has(type))
        return c.json(
          refusal("NotAllowed", `The content type "${type}" is not one of ${[...bodyTypes].join(", ")}.`),
          400,
        );
      headers["content-type"] = type;
      body = await c.req.text();
      query.set("fieldManager", fieldManager);
      if (judged.rule.body) {
        const { schema, does } = judged.rule.body;
        const taken = schema.safeParse(parsed(body));
        if (!taken.success)
          return c.json(refusal("NotAllowed", `Only a change that ${does} is allowed.`), 403);
        // Serialized again: of duplicate keys, the API server might use another one than this check.
        body = JSON.stringify(taken.data);
      }
    }
    const send = (content: string | undefined, more: Record<string, string> = {}) => {
      const asked = new URLSearchParams([...query, ...Object.entries(more)]);
      return apiServer.ask({
        method: c.req.method as "GET",
        path: `${path}${asked.size > 0 ? `?${asked}` : ""}`,
        token: c.get("session").session.idToken,
        headers,
        body: content,
        signal: c.req.raw.signal,
        lasts: "short",
      });
    };
    let response: Dispatcher.ResponseData;
    try {
      const looked =
        body !== undefined && isInstallation(judged.target)
          ? await lookedAt(c, parts, {
              verb: judged.verb as "create" | "patch",
              contentType: headers["content-type"] ?? "",
              body,
              dryRun: (content) => send(content, { dryRun: "All" }),
            })
          : { send: body };
      if ("own" in looked) return looked.own;
      response = "given" in looked ? looked.given : await send(looked.send);
    } catch (error) {
      if (!c.req.raw.signal.aborted) log.warn({ err: error, path }, "API server unavailable");
      return troubled(c, apiServerAway);
    }
    if (response.statusCode === 401) {
      await response.body.dump();
      return troubled(c, tokenRefused);
    }
    const retryAfter = response.headers["retry-after"];
    if (typeof retryAfter === "string") c.header("retry-after", retryAfter);
    const type = String(response.headers["content-type"] ?? "application/octet-stream");
    c.header("content-type", type.startsWith("application/json") ? type : "text/plain; charset=utf-8");
    return c.body(toStream(response.body), response.statusCode as 200);
  });
  return app;
}

const troubled = (c: Context, { status, reason, message }: Trouble): Response =>
  c.json(refusal(reason, message), status as 503);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const toStream = (body: AsyncIterable<Uint8Array>): ReadableStream => ReadableStream.from(body);
