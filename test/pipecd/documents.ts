/** PipeCD objects for tests, and the expected configurations. */
import { readFileSync } from "node:fs";
import { parse, parseAllDocuments } from "yaml";
import { checkObject, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";

const folders = {
  l0: new URL("../../functions/pipecd/samples/l0.yaml", import.meta.url),
  c: new URL("../../functions/pipecd/samples/c.yaml", import.meta.url),
  v1: new URL("../../functions/pipecd/samples/v1.yaml", import.meta.url),
  inputs: new URL("./inputs/", import.meta.url),
  golden: new URL("./golden/", import.meta.url),
};

/** The object of a kind in a sample file, or the only one in a file of `inputs/`. Validates it against its schema. */
export function documentOf<T extends KubeObject>(kind: Kind<T>, file: string): T {
  const url =
    file === "l0" || file === "c" || file === "v1" ? folders[file] : new URL(`${file}.yaml`, folders.inputs);
  const document = parseAllDocuments(readFileSync(url, "utf8"))
    .map((found) => found.toJS() as T)
    .find((found) => found.kind === kind.kind);
  if (document === undefined) throw new Error(`no ${kind.kind} in ${file}`);
  return checkObject(kind, document as Stored<T>);
}

/** The expected configuration, parsed. */
export const golden = (file: string): unknown =>
  parse(readFileSync(new URL(`${file}.yaml`, folders.golden), "utf8"));

/** Reverses the field order of all objects. */
export function backwards<T>(value: T): T {
  if (Array.isArray(value)) return value.map(backwards) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, field]) => [name, backwards(field)]),
  ) as T;
}
