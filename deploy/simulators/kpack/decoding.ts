/**
 * Decoding errors of kpack v0.17.2's webhook for an Image with fields of the wrong type. The messages were produced with kpack's
 * own types and the encoding/json of Go 1.26. Not simulated: types inside affinity, tolerations, and the like, and null in a list.
 */
import { quantityProblem } from "./quantity.ts";

interface GoStruct {
  /** The Go type; qualified with its package if it is the type of a field. */
  readonly type: string;
  readonly fields: Readonly<Record<string, GoType>>;
}

type GoType =
  | "string"
  | "int64"
  | "quantity"
  | "any"
  | GoStruct
  | { readonly type: string; readonly items: GoType }
  | { readonly type: string; readonly values: GoType }
  | { readonly type: string; readonly text: true };

const strings = (...names: readonly string[]): Record<string, GoType> =>
  Object.fromEntries(names.map((name) => [name, "string"]));

const resourceList: GoType = { type: "v1.ResourceList", values: "quantity" };

const imageSpec: GoStruct = {
  type: "v1alpha2.ImageSpec",
  fields: {
    ...strings("tag", "serviceAccountName", "projectDescriptorPath", "defaultProcess"),
    additionalTags: { type: "[]string", items: "string" },
    builder: {
      type: "v1.ObjectReference",
      fields: strings("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"),
    },
    source: {
      type: "v1alpha1.SourceConfig",
      fields: {
        git: { type: "v1alpha1.Git", fields: strings("url", "revision") },
        ...strings("subPath"),
      },
    },
    cache: {
      type: "v1alpha2.ImageCacheConfig",
      fields: {
        volume: {
          type: "v1alpha2.ImagePersistentVolumeCache",
          fields: { size: "quantity", ...strings("storageClassName") },
        },
        registry: { type: "v1alpha2.RegistryCache", fields: strings("tag") },
      },
    },
    imageTaggingStrategy: { type: "v1alpha1.ImageTaggingStrategy", text: true },
    failedBuildHistoryLimit: "int64",
    successBuildHistoryLimit: "int64",
    build: {
      type: "v1alpha2.ImageBuild",
      fields: {
        env: { type: "[]v1.EnvVar", items: { type: "v1.EnvVar", fields: strings("name", "value") } },
        resources: {
          type: "v1.ResourceRequirements",
          fields: { limits: resourceList, requests: resourceList },
        },
        nodeSelector: { type: "map[string]string", values: "string" },
        buildTimeout: "int64",
        ...strings("runtimeClassName", "schedulerName", "creationTime"),
      },
    },
  },
};

const image: GoStruct = { type: "v1alpha2.Image", fields: { spec: imageSpec } };

/** Go's error for an Image that cannot be decoded; otherwise undefined. */
export function decodingError(object: object): string | undefined {
  const problems = problemsIn(object, image, "", "");
  // Go stops at an invalid quantity, but reports the first wrong type only after it has read everything.
  return problems.find((problem) => !problem.startsWith("json: ")) ?? problems[0];
}

/** `path` starts at the root; `struct` is the type that contains the field. */
function problemsIn(value: unknown, type: GoType, path: string, struct: string): string[] {
  if (value === undefined || value === null || type === "any") return [];
  const mismatch = (expected: string, found = kindOf(value)) => [
    `json: cannot unmarshal ${found} into Go struct field ${struct}.${path} of type ${expected}`,
  ];
  if (type === "quantity") return [quantityProblem(value)].filter((problem) => problem !== undefined);
  if (type === "string") return typeof value === "string" ? [] : mismatch(type);
  if (type === "int64") {
    if (typeof value !== "number") return mismatch(type);
    return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? [] : mismatch(type, `number ${value}`);
  }
  if ("text" in type) return typeof value === "string" ? [] : mismatch(type.type);
  if ("items" in type) {
    if (!Array.isArray(value)) return mismatch(type.type);
    return value.flatMap((item) => problemsIn(item, type.items, path, struct));
  }
  if (typeof value !== "object" || Array.isArray(value)) return mismatch(type.type);
  // The API server sends fields in this order.
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  if ("values" in type) return fields.flatMap(([, one]) => problemsIn(one, type.values, path, struct));
  const own = type.type.slice(type.type.indexOf(".") + 1);
  return fields.flatMap(([name, one]) =>
    problemsIn(one, type.fields[name] ?? "any", path ? `${path}.${name}` : name, own),
  );
}

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
