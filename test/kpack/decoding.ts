/**
 * What the webhook of kpack v0.17.2 says of an Image whose fields have other types than Go expects. kpack's own types gave the texts,
 * with the encoding/json of Go 1.26. Left out: types inside affinity, tolerations, and the like, and order: like Go, the first wrong
 * field is named, but here in the order of this table.
 */

interface GoStruct {
  /** The type, as Go writes it: with its package where it is a field's type. */
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
  | { readonly type: string; readonly values: GoType };

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

/** What Go says of an Image that it cannot decode; undefined where it can. */
export const decodingError = (object: object): string | undefined => problemIn(object, image, "", "");

/** `path` from the root; `struct`: the type of the struct that the field is in. */
function problemIn(value: unknown, type: GoType, path: string, struct: string): string | undefined {
  if (value === undefined || value === null || type === "any") return undefined;
  const mismatch = (wanted: string) =>
    `json: cannot unmarshal ${kindOf(value)} into Go struct field ${struct}.${path} of type ${wanted}`;
  if (type === "string") return typeof value === "string" ? undefined : mismatch(type);
  if (type === "int64")
    return Number.isInteger(value)
      ? undefined
      : mismatch(type).replace("number into", `number ${String(value)} into`);
  if (type === "quantity") return isQuantity(value) ? undefined : notQuantity;
  if ("items" in type)
    return Array.isArray(value)
      ? firstOf(value, (item) => problemIn(item, type.items, path, struct))
      : mismatch(type.type);
  if (typeof value !== "object" || Array.isArray(value)) return mismatch(type.type);
  if ("values" in type)
    return firstOf(Object.values(value), (one) => problemIn(one, type.values, path, struct));
  const own = type.type.slice(type.type.indexOf(".") + 1);
  return firstOf(Object.entries(type.fields), ([name, field]) =>
    problemIn((value as Record<string, unknown>)[name], field, path ? `${path}.${name}` : name, own),
  );
}

function firstOf<T>(all: readonly T[], problem: (one: T) => string | undefined): string | undefined {
  for (const one of all) {
    const found = problem(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;

const notQuantity =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const isQuantity = (value: unknown): boolean =>
  ["string", "number"].includes(typeof value) &&
  /^[+-]?[0-9.]+([eEinumkKMGTP]*[-+]?[0-9]*)$/.test(String(value).trim());
