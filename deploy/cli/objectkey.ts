import { type Bus, keyText, namespacesWith, type ObjectKey, parseKeyText } from "denrei/bus";
import { isPathSegment, type Kind } from "denrei/kinds";
import { UsageError } from "denrei/runtime";

/** An object that a command names. */
export interface NamedObject {
  /** As the user has entered it. */
  readonly text: string;
  readonly kind: Pick<Kind, "kind" | "scope">;
  readonly cluster: string;
  /** Functions that reconcile objects of the kind. */
  readonly functions: readonly string[];
  /** The command line before the object: `denrei history hikawa`. */
  readonly command: string;
}

/**
 * The key of the object. Throws a {@link UsageError} if the text does not fit the scope of the kind. If the namespace is missing, the
 * error names those in which the bus knows the object.
 */
export async function objectKey(bus: Pick<Bus, "jsm">, object: NamedObject): Promise<ObjectKey> {
  const { text, kind, command } = object;
  const key = parseKeyText(text);
  if (![key.name, ...(text.includes("/") ? [key.namespace] : [])].every(isPathSegment))
    throw new UsageError(`"${text}" is not the name of an object: expected namespace/name`);
  if (kind.scope === "Cluster" && key.namespace !== "")
    throw new UsageError(`a ${kind.kind} has no namespace: ${command} ${key.name}`);
  if (kind.scope === "Namespaced" && key.namespace === "")
    throw new UsageError(`the namespace of the ${kind.kind} ${text} is missing.${await advice(bus, object)}`);
  return key;
}

async function advice(bus: Pick<Bus, "jsm">, object: NamedObject): Promise<string> {
  const known = await whereKnown(bus, object);
  return known === "" ? ` Expected ${object.command} <namespace>/${object.text}` : known;
}

/** ` hikawa-sample is in the namespace default: denrei history hikawa default/hikawa-sample`; empty if the bus does not know the name. */
export async function whereKnown(
  bus: Pick<Bus, "jsm">,
  { text, cluster, functions, command }: NamedObject,
): Promise<string> {
  const { name } = parseKeyText(text);
  const found = await Promise.all(functions.map((fn) => namespacesWith(bus, { fn, cluster }, name)));
  const namespaces = [...new Set(found.flat())].sort();
  const [namespace] = namespaces;
  if (namespace === undefined) return "";
  const where = `${namespaces.length === 1 ? "namespace" : "namespaces"} ${namespaces.join(", ")}`;
  return ` ${name} is in the ${where}: ${command} ${keyText({ namespace, name })}`;
}
