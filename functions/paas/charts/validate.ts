/** Validates what a chart rendered, before the API server sees it. */
import { apiVersionOf, type Kind, kindText } from "denrei";
import { groupOf, isPathSegment } from "denrei/kinds";
import { ChartError, UnlistedKindError } from "./chart.ts";
import { isRecord, type Json, type JsonObject, plain } from "./json.ts";
import { childKinds } from "./kinds.ts";
import { refusedKind } from "./refusedkinds.ts";

/** A rendered object, validated, in the namespace of its Application, and without status. */
export interface ChildObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  /** `spec`, `data`, and other fields of the kind. */
  readonly [field: string]: unknown;
}

/** Limits for the objects of a chart. */
export interface Allowed {
  readonly namespace: string;
  /** Default: {@link childKinds}. */
  readonly allowed?: readonly Kind[];
}

/** A chart with more objects is out of control: each object is watched, compared, and kept in the status. */
const maxObjects = 100;

/** Fields that the API server sets. A chart that was copied from the output of kubectl has them. */
const ofServer: readonly string[] = [
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
  "selfLink",
];

/** Metadata that charts may not set. With owners or finalizers, an object could outlive its Application. */
const refused: Readonly<Record<string, string>> = {
  ownerReferences: "its owner is the Application, which the platform sets",
  finalizers: "it would stay when the Application is deleted",
  generateName: "it would get another name each time",
};

/**
 * Validates the objects of a chart. Drops empty documents, fields without a value, `status`, and metadata that the API server sets,
 * and adds the namespace. Throws a {@link ChartError} that names the document, counted from 1: `ChartEmpty` without documents,
 * `ChartNotAllowed` for objects that a chart may not make, else `ChartOutputInvalid`.
 */
export function checkedObjects(
  rendered: readonly unknown[],
  { namespace, allowed = childKinds }: Allowed,
): ChildObject[] {
  const documents = rendered.filter((document) => document !== null && document !== undefined);
  if (documents.length === 0) {
    throw new ChartError(
      "ChartEmpty",
      "the chart made no objects. An empty result never deletes an Application's objects: fix the chart, or delete the Application.",
    );
  }
  if (documents.length > maxObjects) {
    throw invalid(
      `the chart made ${documents.length} objects, more than ${maxObjects}`,
      "Make fewer objects, or split them into several Applications.",
    );
  }
  const seen = new Map<string, string>();
  return documents.map((document, index) => {
    const object = checked(document, `document ${index + 1}`, namespace, allowed);
    const key = `${kindText({ group: groupOf(object.apiVersion), kind: object.kind })} ${object.metadata.name}`;
    const where = `document ${index + 1}`;
    const first = seen.get(key);
    if (first !== undefined) {
      throw invalid(`${where}: ${key} is already in ${first}`, "Rename one of them.");
    }
    seen.set(key, where);
    return object;
  });
}

function checked(document: unknown, where: string, namespace: string, allowed: readonly Kind[]): ChildObject {
  const object = plain(document, where);
  if (!isRecord(object)) {
    throw invalid(
      `${where}: expected a Kubernetes object, found ${found(object)}`,
      "Return one object in each document.",
    );
  }
  const { status: _, metadata, ...rest } = object;
  const apiVersion = textOf(object.apiVersion, `${where}: apiVersion`, "such as apps/v1");
  const kind = textOf(object.kind, `${where}: kind`, "such as Deployment");
  const what = `${where} (${apiVersion} ${kind})`;
  checkKind(apiVersion, kind, what, allowed);
  if (!isRecord(metadata)) {
    throw invalid(`${what}: expected metadata with a name, found ${found(metadata)}`, "Give it a name.");
  }
  return { ...rest, apiVersion, kind, metadata: checkedMetadata(metadata, what, namespace) };
}

function checkKind(apiVersion: string, kind: string, what: string, allowed: readonly Kind[]): void {
  const group = groupOf(apiVersion);
  const match = allowed.find((other) => other.group === group && other.kind === kind);
  if (match === undefined) {
    const refused = refusedKind({ group, kind });
    if (refused === undefined)
      throw new UnlistedKindError(
        what,
        apiVersion,
        kind,
        `expected one of ${allowed.map(kindText).join(", ")}, found ${kindText({ group, kind })}. ` +
          "List the kind under kinds in the site's config.yaml, or remove the object from the chart.",
      );
    throw new ChartError(
      "ChartNotAllowed",
      `${what}: charts may not make objects of this kind: ${refused}. Remove it from the chart, and apply it by other means.`,
    );
  }
  if (apiVersionOf(match) !== apiVersion) {
    throw new ChartError(
      "ChartNotAllowed",
      `${what}: expected ${apiVersionOf(match)}, the watched version, found ${apiVersion}. Use that version for the ${kind}.`,
    );
  }
}

function checkedMetadata(metadata: JsonObject, what: string, namespace: string): ChildObject["metadata"] {
  for (const [field, why] of Object.entries(refused)) {
    if (metadata[field] !== undefined) {
      throw new ChartError(
        "ChartNotAllowed",
        `${what}: charts may not set metadata.${field}: ${why}. Remove ${found(metadata[field])}.`,
      );
    }
  }
  const name = textOf(metadata.name, `${what}: metadata.name`, "that is the same each time");
  if (!isPathSegment(name)) {
    throw invalid(
      `${what}: ${JSON.stringify(name)} is not a valid name`,
      "Use lower-case letters, digits, and hyphens.",
    );
  }
  if (metadata.namespace !== undefined && metadata.namespace !== namespace) {
    throw new ChartError(
      "ChartNotAllowed",
      `${what}: expected the namespace of the Application, ${namespace}, found ${found(metadata.namespace)}. Leave metadata.namespace out.`,
    );
  }
  for (const field of ["labels", "annotations"]) checkTexts(metadata[field], `${what}: metadata.${field}`);
  const kept = Object.entries(metadata).filter(([field]) => !ofServer.includes(field));
  return { ...Object.fromEntries(kept), name, namespace };
}

function checkTexts(map: Json | undefined, where: string): void {
  if (map === undefined) return;
  if (!isRecord(map)) {
    throw invalid(`${where}: expected names with values, found ${found(map)}`, "Make it an object.");
  }
  for (const [name, value] of Object.entries(map)) {
    if (typeof value === "string") continue;
    throw invalid(
      `${where}: expected text for ${name}, found ${found(value)}`,
      "Put it in quotes, or make it a string.",
    );
  }
}

function textOf(value: Json | undefined, where: string, hint: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw invalid(`${where}: expected text ${hint}, found ${found(value)}`, "Each object needs it.");
}

const invalid = (problem: string, whatToDo: string): ChartError =>
  new ChartError("ChartOutputInvalid", `${problem}. ${whatToDo}`);

/** A value for messages, shortened. */
function found(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
