/** Spans of calls: named by their target, and free of content. */
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GitHubError } from "../github/errors.ts";
import { ApiError } from "../kube/errors.ts";
import { spanRecorder } from "../process/otlp/recorder.ts";
import { type ApiCall, apiCallSpan, gitHubCallSpan, setStatusCode, spannedCall } from "./calls.ts";
import { inSpan, recordSpans, startSpan } from "./spans.ts";
import { newTrace } from "./trace.ts";

let exporter: InMemorySpanExporter;
beforeEach(() => {
  exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  recordSpans(spanRecorder(provider.getTracer("test")));
});
afterEach(() => recordSpans(undefined));

const ended = () => exporter.getFinishedSpans().map(({ name, attributes }) => ({ name, attributes }));
const reconcile = () => startSpan("reconcile", { kind: "consumer" });

test.each<[ApiCall, name: string, attributes: object]>([
  [
    { method: "POST", path: "/api/v1/namespaces/n/pods" },
    "create pods",
    { "denrei.api.group": "", "k8s.namespace.name": "n" },
  ],
  [
    {
      method: "PATCH",
      path: "/apis/apps/v1/namespaces/n/deployments/d",
      contentType: "application/apply-patch+yaml",
    },
    "apply deployments",
    { "denrei.api.group": "apps", "denrei.api.name": "d" },
  ],
  [
    {
      method: "PATCH",
      path: "/apis/a.b/v1/namespaces/n/as/x/status",
      contentType: "application/merge-patch+json",
    },
    "patch as/status",
    { "denrei.api.name": "x", "denrei.api.subresource": "status" },
  ],
  [{ method: "GET", path: "/api/v1/namespaces/n" }, "get namespaces", { "denrei.api.name": "n" }],
  [{ method: "GET", path: "/apis/a.b/v1/bs" }, "list bs", { "denrei.api.resource": "bs" }],
  [{ method: "GET", path: "/api/v1/namespaces/n/pods/p/log" }, "get pods/log", { "denrei.api.name": "p" }],
  [{ method: "DELETE", path: "/apis/a.b/v1/cs/c" }, "delete cs", { "denrei.api.name": "c" }],
  [{ method: "GET", path: "/version" }, "GET", { "http.request.method": "GET" }],
])("%j is named %s", (call, name, attributes) => {
  const span = inSpan(reconcile(), () => apiCallSpan(call, "[::1]:6443"));
  setStatusCode(span, 201);
  span?.end();
  expect(ended()).toEqual([{ name, attributes: expect.objectContaining(attributes) }]);
  expect(ended()[0]?.attributes).toMatchObject({
    "server.address": "[::1]",
    "server.port": 6443,
    "http.response.status_code": 201,
  });
});

test("omits the query from the name of a call to GitHub", () => {
  inSpan(reconcile(), () =>
    gitHubCallSpan("GET", "/repos/a/b/pulls?token=x", "https://ghe.example/api/v3"),
  )?.end();
  expect(ended()).toEqual([
    {
      name: "GitHub GET",
      attributes: {
        "http.request.method": "GET",
        "server.address": "ghe.example",
        "url.path": "/repos/a/b/pulls",
      },
    },
  ]);
});

test("a call's parent is a local span, although the reconcile's parent is remote", () => {
  const outer = startSpan("reconcile", { kind: "consumer", parent: newTrace().replace(/00$/, "01") });
  inSpan(outer, () => apiCallSpan({ method: "GET", path: "/version" }, "h"))?.end();
  outer.end();
  const parents = exporter.getFinishedSpans().map(({ parentSpanContext }) => parentSpanContext?.isRemote);
  expect(parents).toEqual([false, true]);
});

test.each([
  [new ApiError("GET /version", 409, {}), "409"],
  [new GitHubError("GET /user was answered with something else", 200), "GitHubError"],
  [new TypeError("not JSON"), "TypeError"],
])("a call that fails with %s has the error type %s", async (error, type) => {
  const span = startSpan("call", { kind: "client" });
  await expect(spannedCall(span, () => Promise.reject(error))).rejects.toBe(error);
  expect(ended()[0]?.attributes["error.type"]).toBe(type);
});

test("ignores calls outside of a reconcile", () => {
  expect(apiCallSpan({ method: "GET", path: "/api/v1/pods" }, "h")).toBeUndefined();
  recordSpans(undefined);
  expect(
    inSpan(reconcile(), () => apiCallSpan({ method: "GET", path: "/api/v1/pods" }, "h")),
  ).toBeUndefined();
});
