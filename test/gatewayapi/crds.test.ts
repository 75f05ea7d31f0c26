import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { gatewayCrds } from "./crds.ts";

type HttpRoute = KubeObject<{
  parentRefs: { name: string }[];
  rules: { matches: { path: { type?: string; value: string } }[] }[];
}>;

const HttpRoute = externalKind<HttpRoute>({
  group: "gateway.networking.k8s.io",
  version: "v1",
  kind: "HTTPRoute",
  plural: "httproutes",
});

let environment: TestEnvironment;
let crds: Record<string, unknown>[];
beforeAll(async () => {
  crds = await gatewayCrds();
  environment = await startTestEnvironment({ crds });
});
afterAll(() => environment?.stop());
afterEach(() => vi.unstubAllEnvs());

const route = (name: string, value: string): HttpRoute => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "HTTPRoute",
  metadata: { namespace: "default", name },
  spec: { parentRefs: [{ name: "public" }], rules: [{ matches: [{ path: { value } }] }] },
});

test("are only CRDs of the standard channel", () => {
  expect(new Set(crds.map(({ kind }) => kind))).toEqual(new Set(["CustomResourceDefinition"]));
  expect(crds.map(({ spec }) => (spec as { names: { kind: string } }).names.kind)).toEqual(
    expect.arrayContaining(["GatewayClass", "Gateway", "HTTPRoute", "ReferenceGrant"]),
  );
  for (const { metadata } of crds) {
    expect(metadata).toMatchObject({ annotations: { "gateway.networking.k8s.io/channel": "standard" } });
  }
});

test("install on the API server, which then applies defaults and validates routes", async () => {
  const write = { fieldManager: "test" };
  const created = await environment.client.create(HttpRoute, route("web", "/"), write);
  expect(created.spec.rules[0]?.matches).toEqual([{ path: { type: "PathPrefix", value: "/" } }]);
  expect((await environment.list(HttpRoute)).map(({ metadata }) => metadata.name)).toContain("web");
  await expect(environment.client.create(HttpRoute, route("wrong", "no-slash"), write)).rejects.toThrow(
    "start with '/'",
  );
});

test("without Go, the error names Go", async () => {
  vi.stubEnv("PATH", "/nowhere");
  await expect(gatewayCrds()).rejects.toThrow("expected Go in PATH");
});

test("without the module, the error has the reason", async () => {
  const cache = await mkdtemp(join(tmpdir(), "test-gatewayapi-"));
  onTestFinished(() => rm(cache, { recursive: true }));
  vi.stubEnv("GOMODCACHE", cache);
  vi.stubEnv("GOPROXY", "off");
  await expect(gatewayCrds()).rejects.toThrow(/go mod download, but .*GOPROXY=off/);
});
