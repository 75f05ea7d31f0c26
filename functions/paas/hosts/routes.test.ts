import { expect, test } from "vitest";
import type { ChildObject } from "../charts/validate.ts";
import { hostsOf, withoutHosts } from "./routes.ts";

const object = (
  kind: string,
  spec: unknown,
  annotations?: Readonly<Record<string, string>>,
): ChildObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name: "web", namespace: "team-a", ...(annotations && { annotations }) },
  spec,
});
const http = { paths: [{ path: "/" }] };
const without = (found: ChildObject, ...hosts: string[]) => withoutHosts(found, new Set(hosts));

const ingress = object("Ingress", {
  ingressClassName: "nginx",
  rules: [
    { host: "a.example.com", http },
    { host: "b.example.com", http },
  ],
  tls: [{ hosts: ["a.example.com", "b.example.com"], secretName: "s" }, { hosts: ["b.example.com"] }],
});
const route = object("HTTPRoute", { parentRefs: [], hostnames: ["a.example.com", "b.example.com"] });

test.each([
  ["the rules of an Ingress", ingress, ["a.example.com", "b.example.com"]],
  ["its certificates", object("Ingress", { tls: [{ hosts: ["c.example.com"] }] }), ["c.example.com"]],
  ["a rule without a host", object("Ingress", { rules: [{ http }] }), ["*"]],
  ["a default backend", object("Ingress", { defaultBackend: {} }), ["*"]],
  ["an HTTPRoute", route, ["a.example.com", "b.example.com"]],
  ["an HTTPRoute without a host", object("HTTPRoute", {}), ["*"]],
  ["a GRPCRoute", { ...route, kind: "GRPCRoute" }, ["a.example.com", "b.example.com"]],
  ["a TLSRoute", { ...route, kind: "TLSRoute" }, ["a.example.com", "b.example.com"]],
  ["a GRPCRoute without a host", object("GRPCRoute", {}), ["*"]],
  ["an HTTPRoute without a spec", object("HTTPRoute", undefined), ["*"]],
  ["a Service", object("Service", {}), []],
  ["a host in upper case", object("Ingress", { rules: [{ host: "A.example.com" }] }), ["a.example.com"]],
  [
    "aliases of ingress-nginx",
    object("Ingress", {}, { "nginx.ingress.kubernetes.io/server-alias": "A.example.com, ~^b" }),
    ["a.example.com", "~^b"],
  ],
  [
    "names for external-dns",
    object("Service", {}, { "external-dns.alpha.kubernetes.io/hostname": "a.example.com.,b.example.com" }),
    ["a.example.com", "b.example.com"],
  ],
])("finds the hosts of %s", (_, found, hosts) => {
  expect(hostsOf(found)).toEqual(hosts);
});

test("returns an object without refused hosts unchanged", () => {
  for (const found of [ingress, route]) expect(without(found, "c.example.com")).toBe(found);
});

test("removes only rules and certificates for a refused host from an Ingress", () => {
  expect(without(ingress, "b.example.com")).toEqual({
    ...ingress,
    spec: {
      ingressClassName: "nginx",
      rules: [{ host: "a.example.com", http }],
      tls: [{ hosts: ["a.example.com"], secretName: "s" }],
    },
  });
  expect(without(ingress, "a.example.com", "b.example.com")).toBeUndefined();
});

test("removes a refused default backend of an Ingress that has lost all rules", () => {
  const both = object("Ingress", { defaultBackend: {}, rules: [{ host: "a.example.com" }] });
  expect(without(both, "*")?.spec).toEqual({ rules: [{ host: "a.example.com" }] });
  expect(without(both, "a.example.com")?.spec).toEqual({ defaultBackend: {} });
  expect(without(both, "a.example.com", "*")).toBeUndefined();
});

test("drops an HTTPRoute without hosts, which would match all", () => {
  expect(without(route, "b.example.com")?.spec).toEqual({ parentRefs: [], hostnames: ["a.example.com"] });
  expect(without(route, "a.example.com", "b.example.com")).toBeUndefined();
  expect(without(object("HTTPRoute", {}), "*")).toBeUndefined();
});

test("removes refused hosts from annotations, and drops empty ones", () => {
  const name = "external-dns.alpha.kubernetes.io/hostname";
  const service = object("Service", { ports: [] }, { [name]: "A.example.com,b.example.com", other: "x" });
  expect(without(service, "a.example.com")?.metadata.annotations).toEqual({
    [name]: "b.example.com",
    other: "x",
  });
  expect(without(service, "a.example.com", "b.example.com")).toEqual({
    ...service,
    metadata: { ...service.metadata, annotations: { other: "x" } },
  });
  const bare = object("HTTPRoute", {}, { [name]: "a.example.com" });
  expect(without(bare, "a.example.com")).toEqual({
    ...bare,
    metadata: { name: "web", namespace: "team-a" },
  });
});
