/**
 * The fields that the webhook of kpack v0.17.2 keeps: those of v1alpha2. It silently drops all other fields, and empty ones.
 * Not simulated: fields inside environment variables, tolerations, and the like.
 */
import { canonicalQuantity } from "./quantity.ts";

/** An object's fields. */
export interface Fields {
  readonly [name: string]: Field;
}

/**
 * `value` is dropped when empty, `kept` is not; quantities are converted to canonical form; `fields` describes an optional
 * object, and `always` one that is added when it is missing.
 */
type Field =
  | "value"
  | "kept"
  | "quantity"
  | "quantities"
  | { readonly fields: Fields }
  | { readonly always: Fields };

const reference: Fields = Object.fromEntries(
  ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map((name) => [
    name,
    "value",
  ]),
);
const source: Fields = {
  git: { fields: { url: "kept", revision: "kept", initializeSubmodules: "value" } },
  blob: { fields: { url: "kept", auth: "value", stripComponents: "value" } },
  registry: { fields: { image: "kept", imagePullSecrets: "value" } },
  subPath: "value",
};
const resources: Fields = { limits: "quantities", requests: "quantities", claims: "value" };
const registryCache = { fields: { tag: "kept" } } as const;
const scheduling: Fields = {
  tolerations: "value",
  nodeSelector: "value",
  affinity: "kept",
  runtimeClassName: "kept",
  schedulerName: "value",
  creationTime: "value",
};
const workload: Fields = {
  services: "value",
  cnbBindings: "value",
  env: "value",
  resources: { always: resources },
};

/** Fields of an Image's spec. */
export const imageFields: Fields = {
  tag: "kept",
  builder: { always: reference },
  serviceAccountName: "value",
  source: { always: source },
  cache: {
    fields: { volume: { fields: { size: "quantity", storageClassName: "value" } }, registry: registryCache },
  },
  failedBuildHistoryLimit: "kept",
  successBuildHistoryLimit: "kept",
  imageTaggingStrategy: "value",
  projectDescriptorPath: "value",
  build: { fields: { ...workload, ...scheduling, buildTimeout: "kept" } },
  notary: "kept",
  cosign: { fields: { annotations: "value" } },
  defaultProcess: "value",
  additionalTags: "value",
};

/** Fields of a Build's spec. */
export const buildFields: Fields = {
  tags: "value",
  builder: { always: { image: "value", imagePullSecrets: "value", ref: "kept" } },
  serviceAccountName: "value",
  source: { always: source },
  cache: { fields: { volume: { fields: { persistentVolumeClaimName: "value" } }, registry: registryCache } },
  runImage: { always: { image: "value" } },
  activeDeadlineSeconds: "kept",
  ...workload,
  ...scheduling,
  projectDescriptorPath: "value",
  lastBuild: { fields: { image: "value", cache: { always: { image: "value" } }, stackId: "value" } },
  notary: "kept",
  cosign: { fields: { annotations: "value" } },
  defaultProcess: "value",
  priorityClassName: "value",
};

type Json = Record<string, unknown>;

/** Copies these fields of the object. Throws a `TypeError` if a value must be an object but is not. */
export function known(object: unknown, fields: Fields, path = "spec"): Json {
  if (typeof object !== "object" || object === null || Array.isArray(object))
    throw new TypeError(`${path} must be an object, found ${JSON.stringify(object)}`);
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = knownField((object as Json)[name], field, `${path}.${name}`);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function knownField(value: unknown, field: Field, path: string): unknown {
  if (typeof field === "object" && "always" in field) return known(value ?? {}, field.always, path);
  if (value === undefined || value === null) return undefined;
  if (typeof field === "object") return known(value, field.fields, path);
  if (field === "quantity") return canonicalQuantity(value);
  if (field !== "kept" && isEmpty(value)) return undefined;
  if (field !== "quantities") return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, canonicalQuantity(one)]));
}

const isEmpty = (value: unknown): boolean =>
  value === "" ||
  value === 0 ||
  value === false ||
  (typeof value === "object" && value !== null && Object.keys(value).length === 0);
