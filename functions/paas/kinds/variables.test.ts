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

const accepts = (kind: Kind, spec: object): boolean => problemIn(kind, spec) === undefined;

/** Why a spec is invalid; undefined if it is valid. */
function problemIn(kind: Kind, spec: object): string | undefined {
  const metadata = { name: "web", namespace: "team-a", uid: "u", resourceVersion: "1" };
  const object = { apiVersion: "modoki.tsuzu.dev/v1alpha1", kind: kind.kind, metadata, spec };
  try {
    checkObject(kind, object as Stored<KubeObject>);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidObjectError) return error.message;
    throw error;
  }
}

const cases = Object.entries(specs);

test.each(cases)("accepts names of printable ASCII characters %s", (_, specOf) => {
  for (const name of ["A", "_a", "BP_NODE_VERSION", "a.b-c", "-a", ".a", "..a", "a1", "1A", "A B"]) {
    const [kind, spec] = specOf(name);
    expect(accepts(kind as Kind, spec), name).toBe(true);
  }
});

test.each(cases)("refuses a name that no pod can have %s", (_, specOf) => {
  for (const name of ["A=B", "=", "1 A=B", "é", "a\n", "a\t", "a".repeat(254)]) {
    const [kind, spec] = specOf(name);
    expect(accepts(kind as Kind, spec), JSON.stringify(name)).toBe(false);
  }
});

test.each(cases)("allows names that are no file names, but not %s if it is a build", (place, specOf) => {
  for (const name of ["a/b", "/", ".", ".."]) {
    const [kind, spec] = specOf(name);
    expect(accepts(kind as Kind, spec), name).toBe(!place.startsWith("of builds"));
  }
});

const lists = cases.filter(([place]) => place !== "as a prefix");

test.each(lists)("refuses the second of two variables with the same name %s", (_, specOf) => {
  const [kind, spec] = specOf("A");
  const twice = JSON.parse(JSON.stringify(spec), (field, value) =>
    field === "env" ? [...value, { name: "B" }, ...value] : value,
  );
  expect(problemIn(kind as Kind, twice)).toMatch(
    /env\.2\.name: Another variable is named A\. Rename or remove one of them\./,
  );
});

test("keeps an Application that was stored with a reserved name", () => {
  expect(accepts(Application as Kind, { domains: [], env: [{ name: "PORT", value: "80" }] })).toBe(true);
});

const key = { name: "settings", key: "a" };

test.each([
  ["a key of a Secret", { env: [{ name: "A", valueFrom: { secretKeyRef: key } }] }, true],
  ["no source", { env: [{ name: "A", valueFrom: {} }] }, false],
  ["a value and a source", { env: [{ name: "A", value: "a", valueFrom: { secretKeyRef: key } }] }, false],
  [
    "an empty value and a source",
    { env: [{ name: "A", value: "", valueFrom: { secretKeyRef: key } }] },
    true,
  ],
  [
    "an invalid Secret",
    { env: [{ name: "A", valueFrom: { secretKeyRef: { ...key, name: "My_Secret" } } }] },
    false,
  ],
  ["an invalid key", { env: [{ name: "A", valueFrom: { configMapKeyRef: { ...key, key: "a/b" } } }] }, false],
  ["all of a Secret", { envFrom: [{ secretRef: { name: "settings" } }] }, true],
  ["all of an invalid Secret", { envFrom: [{ secretRef: { name: "My Secret" } }] }, false],
  ["all of nothing", { envFrom: [{ prefix: "A_" }] }, false],
  ["all of both", { envFrom: [{ secretRef: { name: "a" }, configMapRef: { name: "a" } }] }, false],
])("takes variables from %s: %s", (_, spec, accepted) => {
  expect(accepts(Application as Kind, { domains: [], ...spec })).toBe(accepted);
});

test.each([
  [{ cpu: "500m", memory: "512Mi", "example.com/gpu": 1, "hugepages-2Mi": "4Mi" }, true],
  [{ cpu: 0 }, true],
  [{ cpu: -1 }, false],
  [{ memory: "-1" }, false],
  [{ memory: "lots" }, false],
  [{ banana: "1" }, false],
])("accepts the resources %j: %s", (requests, accepted) => {
  expect(accepts(Application as Kind, { domains: [], resources: { requests } })).toBe(accepted);
});

test.each([
  ["2G", true],
  ["500Mi", true],
  ["banana", false],
  ["-2G", false],
  ["2 G", false],
])("accepts the cache size %s: %s", (cacheSize, accepted) => {
  const spec = { applicationRef: { name: "web" }, base: { github }, image, build: { cacheSize } };
  expect(accepts(RemoteSync as Kind, spec)).toBe(accepted);
});
