/**
 * Spans of calls to the API server and to GitHub within a recorded span, with only names of the target and the answer.
 * https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 */
import type { Attributes } from "@opentelemetry/api";
import { type Span, spanned, startInnerSpan } from "./spans.ts";

/** The properties of a call to the API server that its span has. */
export interface ApiCall {
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
}

/** Starts the span of a call to the API server at `host`; undefined outside of a recorded span. */
export const apiCallSpan = (call: ApiCall, host: string): Span | undefined =>
  startInnerSpan(() => nameOf(call), {
    kind: "client",
    attributes: () => ({ ...resourceIn(call), ...http(call.method, host) }),
  });

/** Starts the span of a call to GitHub at `base`; undefined outside of a recorded span. `path` may have a query. */
export const gitHubCallSpan = (method: string, path: string, base: string): Span | undefined =>
  startInnerSpan(() => `GitHub ${method}`, {
    kind: "client",
    attributes: () => ({ ...http(method, new URL(base).host), "url.path": path.split("?", 1)[0] }),
  });

/** Sets the status code of the answer, if there was one. */
export function setStatusCode(span: Span | undefined, status: number | undefined): void {
  if (status !== undefined) span?.set(() => ({ "http.response.status_code": status }));
}

/** Makes the call of a span, and ends the span. An error answer is recorded as its status code. */
export const spannedCall = <T>(span: Span, call: () => Promise<T>): Promise<T> =>
  spanned(span, call, (error: Error & { status?: unknown }) =>
    Number(error.status) >= 400 ? String(error.status) : error.name,
  );

const http = (method: string, host: string): Attributes => {
  const { hostname, port } = new URL(`http://${host}`);
  return {
    "http.request.method": method,
    "server.address": hostname,
    ...(port !== "" && { "server.port": Number(port) }),
  };
};

/** `apply deployments`, `patch hikawas/status`, or only the method for other paths. */
function nameOf(call: ApiCall): string {
  const found = partsOf(call.path);
  if (found === undefined) return call.method;
  return `${verbOf(call, found.name)} ${found.plural}${found.subresource ? `/${found.subresource}` : ""}`;
}

function resourceIn(call: ApiCall): Attributes {
  const found = partsOf(call.path);
  if (found === undefined) return {};
  const { group, plural, namespace, name, subresource } = found;
  return {
    "denrei.api.verb": verbOf(call, name),
    "denrei.api.group": group,
    "denrei.api.resource": plural,
    ...(namespace && { "k8s.namespace.name": namespace }),
    ...(name && { "denrei.api.name": name }),
    ...(subresource && { "denrei.api.subresource": subresource }),
  };
}

interface ResourceParts {
  readonly group: string;
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

const resourcePattern =
  /^\/(?:api|apis\/(?<group>[^/]+))\/[^/]+(?:\/namespaces\/(?<namespace>[^/]+)(?=\/))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+)(?:\/(?<subresource>.+))?)?$/;

function partsOf(path: string): ResourceParts | undefined {
  const { group = "", plural, ...parts } = resourcePattern.exec(path)?.groups ?? {};
  const { namespace, name, subresource } = parts;
  return plural === undefined ? undefined : { group, plural, namespace, name, subresource };
}

/** Verbs as in the API server's authorization, plus `apply`, which it treats as a patch. */
function verbOf({ method, contentType = "" }: ApiCall, name: string | undefined): string {
  if (method === "GET") return name === undefined ? "list" : "get";
  if (method === "PATCH") return contentType.startsWith("application/apply-patch") ? "apply" : "patch";
  return { POST: "create", PUT: "update", DELETE: "delete" }[method] ?? method.toLowerCase();
}
