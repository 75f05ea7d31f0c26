import fc from "fast-check";
import { expect, test } from "vitest";
import { kubeClient, resourcePath } from "./client.ts";
import type { KubeConnection } from "./connection.ts";
import { externalKind, Secret } from "./kind.ts";

const Role = externalKind({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  scope: "Cluster",
});
/** What Kubernetes allows as the name of an object of some kind: no slash, no percent sign, not one or two dots. */
const segment = fc
  .oneof(
    fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,40}[a-z0-9])?$/),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }),
    fc.constantFrom(
      "system:controller:x",
      "a".repeat(253),
      "a b",
      "a?b",
      "a#b",
      "a\\b",
      "...",
      ".a",
      "a&b=c",
    ),
  )
  .filter((name) => name !== "." && name !== ".." && !/[/%]/.test(name));

test("resource path - every valid name is one segment of the URL, and reads back from it", () => {
  fc.assert(
    fc.property(segment, segment, (namespace, name) => {
      const url = new URL(`https://host${resourcePath(Secret, namespace, name)}`);
      expect([url.search, url.hash]).toEqual(["", ""]);
      expect(url.pathname.split("/").map(decodeURIComponent)).toEqual([
        "",
        "api",
        "v1",
        "namespaces",
        namespace,
        "secrets",
        name,
      ]);
      const role = new URL(`https://host${resourcePath(Role, undefined, name)}`).pathname;
      expect(decodeURIComponent(role.split("/").at(-1) ?? "")).toBe(name);
    }),
  );
});

test("resource path - follows the scope of the kind", () => {
  expect(resourcePath(Role, "default", "a")).toBe(resourcePath(Role, undefined, "a"));
  expect(resourcePath(Role, "default")).toBe(resourcePath(Role));
  expect(resourcePath(Secret, "")).toBe(resourcePath(Secret));
});

test("an object of a namespaced kind without a namespace is an error, not a missing object", async () => {
  const client = kubeClient({ server: "https://host" } as KubeConnection);
  const missing = "the namespace of the Secret a, found none";
  const at = { namespace: "", name: "a" };
  await expect(client.get(Secret, { name: "a" })).rejects.toThrow(missing);
  await expect(client.delete(Secret, at, {})).rejects.toThrow(missing);
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, spec: undefined };
  await expect(client.create(Secret, object, { fieldManager: "test" })).rejects.toThrow(missing);
  await expect(client.mergePatch(Secret, at, {}, { fieldManager: "test" })).rejects.toThrow(missing);
});

test("resource path - what would lead somewhere else is no name", () => {
  for (const name of [".", "..", "%2e%2e", "a/../b", "a/b", "", "\ud800"]) {
    expect(() => resourcePath(Secret, "default", name), name).toThrow(RangeError);
    if (name !== "") expect(() => resourcePath(Secret, name, "a"), name).toThrow(RangeError);
  }
});
