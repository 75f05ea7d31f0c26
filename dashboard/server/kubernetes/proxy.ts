/** Proxies requests from the page to the API server, with the user's token. */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Dispatcher } from "undici";
import type { Env, Parts } from "../env.ts";
import { errorBody } from "../errorbody.ts";
import { concurrencyLimiter } from "../limiter.ts";
import { limitConcurrency } from "../requestlimit.ts";
import { checkRequest, type Rejection, type Target, type Verb } from "./allowlist.ts";
import { type PageError, pageErrorOf, tokenRejected } from "./responses.ts";

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

const fieldManager = "denrei-dashboard";

const prefix = "/api/kubernetes";

/** A write from the page. */
export interface ProxiedWrite {
  readonly verb: "create" | "patch";
  readonly namespace: string;
  readonly contentType: string;
  readonly body: string;
  /** Sends the write to the API server as a dry run. */
  dryRun(body: string): Promise<Dispatcher.ResponseData>;
}

/** A check of writes of a kind, in addition to the allow list. */
export interface WriteCheck {
  readonly kind: { readonly group: string; readonly plural: string };
  /** Returns the body to send, or else the response to give: our own, or the API server's. */
  check(
    c: Context<Env>,
    write: ProxiedWrite,
  ): Promise<
    | { readonly body: string }
    | { readonly response: Response }
    | { readonly apiResponse: Dispatcher.ResponseData }
  >;
}

type ProxyParts = Pick<Parts, "apiServer" | "log"> & { readonly checks: readonly WriteCheck[] };

/** `/api/kubernetes/…`: the rest is a path of the Kubernetes API. */
export function proxyRoutes(parts: ProxyParts): Hono<Env> {
  const app = new Hono<Env>();
  const tooLarge = (c: Context) =>
    c.json(errorBody("TooLarge", `The body is larger than the limit of ${maxBody} bytes.`), 413);
  app.all(
    `${prefix}/*`,
    limitConcurrency(concurrencyLimiter(maxAtOnce)),
    bodyLimit({ maxSize: maxBody, onError: tooLarge }),
    async (c) => {
      const request = await allowedRequest(c);
      return "rejection" in request ? request.rejection : forward(c, parts, request);
    },
  );
  return app;
}

/** A request that the allow list permits. */
interface AllowedRequest {
  readonly path: string;
  readonly target: Target;
  readonly verb: Verb;
  readonly query: URLSearchParams;
  readonly contentType: string | undefined;
  readonly body: string | undefined;
}

async function allowedRequest(c: Context<Env>): Promise<AllowedRequest | { readonly rejection: Response }> {
  // Not decoded, so that exactly the checked path is sent.
  const { pathname, searchParams } = new URL(c.req.raw.url);
  const path = pathname.slice(prefix.length);
  const checked = checkRequest(c.req.method, path);
  const reject = (status: Rejection["status"], message: string) => ({
    rejection: c.json(errorBody("NotAllowed", message), status),
  });
  if ("status" in checked) return reject(checked.status, checked.message);
  const { target, rule, verb } = checked;
  const query = new URLSearchParams([...searchParams].filter(([name]) => queries.has(name)));
  if (!["POST", "PATCH"].includes(c.req.method))
    return { path, target, verb, query, contentType: undefined, body: undefined };
  const contentType = c.req.header("content-type") ?? "";
  if (!bodyTypes.has(contentType))
    return reject(400, `The content type "${contentType}" is not one of ${[...bodyTypes].join(", ")}.`);
  const body = await c.req.text();
  query.set("fieldManager", fieldManager);
  if (rule.body === undefined) return { path, target, verb, query, contentType, body };
  const { schema, effect } = rule.body;
  const result = schema.safeParse(parseJson(body));
  if (!result.success) return reject(403, `Only a change that ${effect} is allowed.`);
  // Serialized again: of duplicate keys, the API server might use another one than this check.
  return { path, target, verb, query, contentType, body: JSON.stringify(result.data) };
}

async function forward(c: Context<Env>, parts: ProxyParts, request: AllowedRequest): Promise<Response> {
  let response: Dispatcher.ResponseData;
  try {
    const checkedWrite = await checkedWriteOf(c, parts, request);
    if ("response" in checkedWrite) return checkedWrite.response;
    response =
      "apiResponse" in checkedWrite
        ? checkedWrite.apiResponse
        : await send(c, parts, { ...request, body: checkedWrite.body });
  } catch (error) {
    if (!c.req.raw.signal.aborted)
      parts.log.warn({ err: error, path: request.path }, "API server unavailable");
    return errorResponse(c, pageErrorOf(error));
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
}

/** Checks a write of a kind that has a check; other requests pass. */
async function checkedWriteOf(c: Context<Env>, parts: ProxyParts, request: AllowedRequest) {
  const { target, verb, contentType = "", body } = request;
  const found = parts.checks.find(
    ({ kind }) => kind.group === target.group && kind.plural === target.resource,
  );
  if (body === undefined || found === undefined) return { body };
  return found.check(c, {
    verb: verb as "create" | "patch",
    namespace: target.namespace ?? "",
    contentType,
    body,
    dryRun(content) {
      const query = new URLSearchParams([...request.query, ["dryRun", "All"]]);
      return send(c, parts, { ...request, query, body: content });
    },
  });
}

function send(
  c: Context<Env>,
  { apiServer }: ProxyParts,
  { path, query, contentType, body }: AllowedRequest,
): Promise<Dispatcher.ResponseData> {
  return apiServer.request({
    method: c.req.method as "GET",
    path: `${path}${query.size > 0 ? `?${query}` : ""}`,
    token: c.get("session").session.idToken,
    headers: {
      accept: "application/json",
      ...(contentType !== undefined && { "content-type": contentType }),
    },
    body,
    signal: c.req.raw.signal,
    lasts: "short",
  });
}

const errorResponse = (c: Context, { status, ...body }: PageError): Response => c.json(body, status as 503);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const toStream = (body: AsyncIterable<Uint8Array>): ReadableStream => ReadableStream.from(body);
