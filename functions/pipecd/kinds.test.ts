import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { crdOf } from "../../bus/kube/crd.ts";
import { checkObject, InvalidObjectError, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { applicationKindOf } from "./kinds/application.ts";
import {
  Application,
  ControlPlane,
  Environment,
  EventRegistration,
  Minio,
  Mongo,
  Mysql,
  Piped,
} from "./kinds.ts";

const kinds: readonly Kind[] = [
  Minio,
  Mongo,
  Mysql,
  ControlPlane,
  Environment,
  Piped,
  Application,
  EventRegistration,
];

type Schema = { properties: Record<string, Schema>; items: Schema; [key: string]: unknown };
interface Crd {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly scope: string;
    readonly names: {
      readonly shortNames: readonly string[];
      readonly categories: readonly string[];
      readonly listKind: string;
    };
    readonly versions: readonly {
      readonly name: string;
      readonly subresources: object;
      readonly additionalPrinterColumns: readonly { readonly name: string; readonly jsonPath: string }[];
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

function crd(kind: Kind) {
  const { metadata, spec } = crdOf(kind) as unknown as Crd;
  const [version] = spec.versions;
  if (version === undefined || spec.versions.length > 1) throw new Error("expected one version");
  const schema = (...path: string[]): Schema =>
    path.reduce<Schema>(
      (at, name) => (name === "[]" ? at.items : (at.properties[name] as Schema)),
      version.schema.openAPIV3Schema,
    );
  const messages = (...path: string[]) =>
    ((schema(...path)["x-kubernetes-validations"] ?? []) as { message: string }[]).map(
      ({ message }) => message,
    );
  return { name: metadata.name, ...spec, version, schema, messages };
}

const documents = (name: string): KubeObject[] =>
  parseAllDocuments(readFileSync(new URL(`./samples/${name}.yaml`, import.meta.url), "utf8")).map(
    (document) => document.toJS() as KubeObject,
  );

type Fields = { [key: string]: unknown };
const specOf = (file: string, kind: string): Fields =>
  structuredClone(documents(file).find((document) => document.kind === kind)?.spec) as Fields;

/** `fields` with the one at `path` replaced. */
function withField(fields: Fields, path: string, value: unknown): Fields {
  const [first = "", ...rest] = path.split(".");
  const out = { ...fields };
  if (rest.length > 0) out[first] = withField((fields[first] ?? {}) as Fields, rest.join("."), value);
  else if (value === undefined) delete out[first];
  else out[first] = value;
  return out;
}

function validationError(kind: Kind, spec: unknown): string | undefined {
  const object = {
    apiVersion: "pipecd.kanatakita.com/v1alpha1",
    kind: kind.kind,
    metadata: { name: "sample", namespace: "team-a", uid: "uid", resourceVersion: "1" },
    spec,
  } as Stored;
  try {
    expect(checkObject(kind, object)).toBe(object);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidObjectError) return error.message;
    throw error;
  }
}

/** Paths of fields that the schema does not have: strict field validation rejects them. */
function unknownFields(schema: Schema, value: unknown, path = ""): string[] {
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => unknownFields(schema.items, item, `${path}[${index}]`));
  }
  if (typeof value !== "object" || value === null || schema.additionalProperties !== undefined) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    const property = schema.properties?.[name];
    return property === undefined ? [`${path}.${name}`] : unknownFields(property, item, `${path}.${name}`);
  });
}

test("defines eight namespaced kinds with a status subresource", () => {
  const described = kinds.map((kind) => {
    const { name, scope, names, version } = crd(kind);
    expect([scope, version.name, version.subresources]).toEqual(["Namespaced", "v1alpha1", { status: {} }]);
    return [name, names.shortNames.join(), names.categories.join(), names.listKind];
  });
  expect(described).toEqual([
    ["minios.pipecd.kanatakita.com", "pminio", "pipecd", "MinioList"],
    ["mongoes.pipecd.kanatakita.com", "pmongo", "pipecd", "MongoList"],
    ["mysqls.pipecd.kanatakita.com", "pmysql", "pipecd", "MysqlList"],
    ["controlplanes.pipecd.kanatakita.com", "cpl", "pipecd", "ControlPlaneList"],
    ["environments.pipecd.kanatakita.com", "penv", "pipecd", "EnvironmentList"],
    ["pipeds.pipecd.kanatakita.com", "ppd", "pipecd", "PipedList"],
    ["applications.pipecd.kanatakita.com", "papp", "pipecd", "ApplicationList"],
    ["eventregistrations.pipecd.kanatakita.com", "pevent", "pipecd", "EventRegistrationList"],
  ]);
});

test("each kind has its printer columns", () => {
  const columns = kinds.map((kind) =>
    crd(kind)
      .version.additionalPrinterColumns.map(({ name }) => name)
      .join(" "),
  );
  expect(columns).toEqual([
    "Version Available Ready Age",
    "Version Available Ready Age",
    "Version Available Ready Age",
    "Version Gateway Server Cache Ops Ready Age",
    "Project Env ID Ready Age",
    "Project Piped Version ID Available Ready Age",
    "Project App Kind ID Ready Age",
    "Project Event State Data Ready Age",
  ]);
});

test("the schema has the fields of columns and conditions", () => {
  for (const kind of kinds) {
    const { version, schema } = crd(kind);
    expect(schema("status", "observedGeneration").type).toBe("integer");
    expect(schema("status", "conditions")["x-kubernetes-list-map-keys"]).toEqual(["type"]);
    for (const { jsonPath } of version.additionalPrinterColumns) {
      const path = jsonPath.replace(/\[.*/, "").split(".").slice(1);
      expect(path[0] === "metadata" || schema(...path), jsonPath).toBeTruthy();
    }
  }
});

describe.each(["l0", "c", "v1", "eventregistration"])("the documents of samples/%s.yaml", (file) => {
  test.each(documents(file).filter(({ kind }) => kind !== "Secret"))(
    "$kind is valid and unchanged after parsing",
    (document) => {
      const kind = kinds.find((known) => known.kind === document.kind);
      if (kind === undefined) throw new Error(`unknown kind: ${document.kind}`);
      expect(document.apiVersion).toBe("pipecd.kanatakita.com/v1alpha1");
      expect(validationError(kind, document.spec)).toBeUndefined();
      expect(kind.definition?.spec.parse(document.spec)).toEqual(document.spec);
      expect(unknownFields(crd(kind).schema("spec"), document.spec)).toEqual([]);
    },
  );
});

test("the samples have one document of each kind", () => {
  const kindsIn = (file: string) => documents(file).map(({ kind }) => kind);
  expect(kindsIn("l0")).toEqual([
    "Secret",
    "Minio",
    "Mongo",
    "ControlPlane",
    "Environment",
    "Piped",
    "Application",
  ]);
  expect(kindsIn("v1")).toEqual(kindsIn("c"));
  expect(kindsIn("c")).toEqual(kindsIn("l0").map((kind) => (kind === "Mongo" ? "Mysql" : kind)));
});

test.each(["datastore", "filestore"])(
  "a control plane without %s is valid: a condition reports the missing store",
  (field) => {
    const spec = specOf("c", "ControlPlane") as { readonly config: Readonly<Record<string, unknown>> };
    const config = Object.fromEntries(Object.entries(spec.config).filter(([name]) => name !== field));
    expect(config).not.toEqual(spec.config);
    expect(validationError(ControlPlane, { ...spec, config })).toBeUndefined();
    expect(crd(ControlPlane).schema("spec", "config").required ?? []).not.toContain(field);
  },
);

test("keeps volumes of any source", () => {
  const volumeMounts = [
    { mountPath: "/mnt", volume: { name: "x", csi: { driver: "d", readOnly: true } }, subPath: "y" },
  ];
  const spec = { ...specOf("c", "ControlPlane"), volumeMounts };
  expect(ControlPlane.definition?.spec.parse(spec)).toEqual(spec);
  expect(crd(ControlPlane).schema("spec", "volumeMounts", "[]", "volume")).toMatchObject({
    "x-kubernetes-preserve-unknown-fields": true,
    required: ["name"],
  });
});

const piped = (path: string, value: unknown) =>
  validationError(Piped, withField(specOf("c", "Piped"), path, value));
const application = (path: string, value: unknown) =>
  validationError(Application, withField(specOf("c", "Application"), path, value));

test.each([0, 60, "60s", "1m30s", "1.5h", ".5s", "250ms"])("%j is a valid duration", (value) => {
  expect(piped("config.syncInterval", value)).toBeUndefined();
});

test.each([-1, 1.5, "60", "-60s", "1d", "", "1m 30s", 9_000_000_001])(
  "%j is not a valid duration",
  (value) => {
    expect(piped("config.syncInterval", value)).toContain("spec.config.syncInterval: ");
  },
);

test("durations are integers or strings", () => {
  const schema = crd(Piped).schema("spec", "config", "syncInterval");
  expect(schema).toMatchObject({ "x-kubernetes-int-or-string": true, minimum: 0 });
  expect(schema).not.toHaveProperty("anyOf");
  const pattern = new RegExp(schema.pattern as string);
  expect(["1m30s", "60s", "60"].map((value) => pattern.test(value))).toEqual([true, true, false]);
});

test("limits names to the length that PipeCD can store", () => {
  expect(piped("name", "x".repeat(100))).toBeUndefined();
  expect(piped("name", "x".repeat(101))).toContain("spec.name: ");
  expect(piped("name", "")).toContain("spec.name: ");
  expect(application("name", "x".repeat(50))).toBeUndefined();
  expect(application("name", "x".repeat(51))).toContain("spec.name: ");
  expect(application("name", "")).toContain("spec.name: ");
  expect(crd(Piped).schema("spec", "name")).toMatchObject({ minLength: 1, maxLength: 100 });
  expect(crd(Application).schema("spec", "name")).toMatchObject({ minLength: 1, maxLength: 50 });
});

test.each(["./", "a/", "kubernetes/canary", ".."])("%j is a valid path", (path) => {
  expect(application("path", path)).toBeUndefined();
});

test.each(["", ".", "/", "/kubernetes"])("%j is not a valid path", (path) => {
  const message =
    "expected a folder of the repository: at least two characters, not starting with /. The root is ./";
  expect(application("path", path)).toContain(message);
  expect(crd(Application).messages("spec", "path")).toEqual([message]);
});

test("accepts application kinds in any letter case", () => {
  expect(applicationKindOf("Kubernetes")).toBe("KUBERNETES");
  expect(applicationKindOf("CloudRun")).toBe("CLOUDRUN");
  expect(applicationKindOf("Helm")).toBeUndefined();
  const message = "expected Kubernetes, Terraform, Crossplane, Lambda, CloudRun, or ECS";
  for (const kind of ["kubernetes", "KUBERNETES", "ecs"]) {
    expect(application("kind", kind)).toBeUndefined();
  }
  expect(application("kind", "Helm")).toContain(message);
  expect(crd(Application).messages("spec", "kind")).toEqual([message]);
});

test("rejects both cloudProvider and platformProvider", () => {
  const message = "expected at most one of cloudProvider and platformProvider, which are the same";
  expect(application("platformProvider", "x")).toContain(message);
  expect(crd(Application).messages("spec")).toEqual([message]);
  expect(application("cloudProvider", undefined)).toBeUndefined();
  expect(
    validationError(
      Application,
      withField(withField(specOf("c", "Application"), "cloudProvider", undefined), "platformProvider", "x"),
    ),
  ).toBeUndefined();
});

test("limits object names so that derived names fit", () => {
  const rule = (kind: Kind) => crd(kind).messages()[0] ?? "";
  expect([Minio, Mongo, Mysql].map((kind) => rule(kind).includes("at most 46 characters"))).toEqual([
    true,
    true,
    true,
  ]);
  expect(rule(ControlPlane)).toContain("at most 55 characters");
  expect(rule(Piped)).toContain("at most 63 characters");
});

test("optional fields can be omitted", () => {
  expect(validationError(Mongo, {})).toBeUndefined();
  expect(validationError(Mysql, {})).toBeUndefined();
  expect(validationError(Minio, { secret: { secretName: "x" } })).toBeUndefined();
  expect(validationError(Minio, {})).toContain("spec.secret: ");
  expect(piped("environmentRef", undefined)).toBeUndefined();
  expect(
    validationError(ControlPlane, withField(specOf("c", "ControlPlane"), "volumeMounts", undefined)),
  ).toBe(undefined);
});

describe("events", () => {
  const event = (path: string, value: unknown) =>
    validationError(
      EventRegistration,
      withField(specOf("eventregistration", "EventRegistration"), path, value),
    );

  test("limit their name to the size of PipeCD's column", () => {
    expect(event("name", "n".repeat(50))).toBeUndefined();
    expect(event("name", "n".repeat(51))).toContain("spec.name: ");
    expect(event("name", "")).toContain("spec.name: ");
  });

  test("reject labels and contexts that PipeCD rejects", () => {
    expect(event("contexts", { "App-Commit": "1" })).toBeUndefined();
    for (const contexts of [{ app_commit: "1" }, { "": "1" }, { app: "" }])
      expect(event("contexts", contexts)).toContain("spec.contexts");
    for (const labels of [{ "": "1" }, { app: "" }]) expect(event("labels", labels)).toContain("spec.labels");
  });

  test("have exactly one source", () => {
    expect(event("source", { data: "v1" })).toBeUndefined();
    for (const source of [{}, { data: "v1", remoteSync: { name: "web" } }])
      expect(event("source", source)).toContain("expected exactly one of data, remoteSync");
    expect(event("source", { data: "" })).toContain("spec.source.data: ");
  });
});
