/** Documents of PipeCD's kinds, and what is expected to come of them. */
import { readFileSync } from "node:fs";
import { parse, parseAllDocuments } from "yaml";
import { checkObject, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";

const places = {
  l0: new URL("../../functions/pipecd/samples/l0.yaml", import.meta.url),
  c: new URL("../../functions/pipecd/samples/c.yaml", import.meta.url),
  v1: new URL("../../functions/pipecd/samples/v1.yaml", import.meta.url),
  inputs: new URL("./inputs/", import.meta.url),
  golden: new URL("./golden/", import.meta.url),
};

/** The object of a kind in a file of samples, or the only one in a file of `inputs/`. It fits its schema. */
export function documentOf<T extends KubeObject>(kind: Kind<T>, file: string): T {
  const place =
    file === "l0" || file === "c" || file === "v1" ? places[file] : new URL(`${file}.yaml`, places.inputs);
  const document = parseAllDocuments(readFileSync(place, "utf8"))
    .map((found) => found.toJS() as T)
    .find((found) => found.kind === kind.kind);
  if (document === undefined) throw new Error(`expected a ${kind.kind} in ${file}`);
  return checkObject(kind, document as Stored<T>);
}

/** What is expected, as it is parsed. */
export const golden = (file: string): unknown =>
  parse(readFileSync(new URL(`${file}.yaml`, places.golden), "utf8"));

/** The same with the fields of all objects in the opposite order. */
export function backwards<T>(value: T): T {
  if (Array.isArray(value)) return value.map(backwards) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, field]) => [name, backwards(field)]),
  ) as T;
}
