import { expect, test } from "vitest";
import { checkObject, InvalidObjectError, type Kind } from "../../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import { Application, AppPipeline, RemoteSync } from "../kinds.ts";

const github = { owner: "acme", repo: "web", secretName: "acme-web" };
const image = { name: "registry.example.com/acme/web" };

/** Specs with a variable of this name. */
const specs = {
  "of an Application": (name: string) => [Application, { domains: ["a.example.com"], env: [{ name }] }],
  "of a template": (name: string) => [
    AppPipeline,
    {
      ...{ domainBase: "example.com", base: { github }, image },
      applicationTemplate: { spec: { env: [{ name }] } },
    },
  ],
  "of builds": (name: string) => [
    RemoteSync,
    { applicationRef: { name: "web" }, base: { github }, image, build: { env: [{ name }] } },
  ],
  "of builds of previews": (name: string) => [
    AppPipeline,
    {
      ...{ domainBase: "example.com", base: { github }, image },
      ...{ applicationTemplate: {}, build: { env: [{ name }] } },
    },
  ],
  "as a prefix": (name: string) => [
    Application,
    { domains: ["a.example.com"], envFrom: [{ prefix: name, configMapRef: { name: "settings" } }] },
  ],
} as const satisfies Record<string, (name: string) => readonly [unknown, object]>;

function accepts(kind: Kind, spec: object): boolean {
  const metadata = { name: "web", namespace: "team-a", uid: "u", resourceVersion: "1" };
  const object = { apiVersion: "modoki.tsuzu.dev/v1alpha1", kind: kind.kind, metadata, spec };
  try {
    checkObject(kind, object as Stored<KubeObject>);
    return true;
  } catch (error) {
    if (error instanceof InvalidObjectError) return false;
    throw error;
  }
}

const cases = Object.entries(specs);

test.each(cases)("accepts a name that every Kubernetes accepts %s", (_, specOf) => {
  for (const name of ["A", "_a", "BP_NODE_VERSION", "a.b-c", "-a", ".a", "a1"]) {
    const [kind, spec] = specOf(name);
    expect(accepts(kind as Kind, spec), name).toBe(true);
  }
});

test.each(cases)("refuses a name that no pod can have %s", (_, specOf) => {
  for (const name of ["1A", "A=B", "A B", "a/b", "..", "..a", ".", "é", "a\n", "a".repeat(254)]) {
    const [kind, spec] = specOf(name);
    expect(accepts(kind as Kind, spec), JSON.stringify(name)).toBe(false);
  }
});

test.each([
  ["2G", true],
  ["500Mi", true],
  ["banana", false],
  ["2 G", false],
])("accepts the cache size %s: %s", (cacheSize, accepted) => {
  const spec = { applicationRef: { name: "web" }, base: { github }, image, build: { cacheSize } };
  expect(accepts(RemoteSync as Kind, spec)).toBe(accepted);
});
