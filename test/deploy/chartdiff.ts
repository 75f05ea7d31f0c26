/** Differences between two renderings of the chart. */
import { identity } from "../../deploy/helm/sources.ts";
import type { Manifest } from "./manifests.ts";

/** Objects that only one of the renderings contains. */
export function addedAndRemoved(before: readonly Manifest[], after: readonly Manifest[]) {
  const [were, are] = [before, after].map((objects) => objects.map(identity));
  const without = (all: readonly string[] = [], others: readonly string[] = []) =>
    all.filter((one) => !others.includes(one)).sort();
  return { come: without(are, were), gone: without(were, are) };
}

/** Changed fields as `Kind name: path` with their new value, which is undefined for removed fields. */
export function changedFields(
  before: Readonly<Record<string, Manifest>>,
  after: Readonly<Record<string, Manifest>>,
): Record<string, unknown> {
  const [were, are] = [leaves(before), leaves(after)];
  const paths = new Set([...were.keys(), ...are.keys()]);
  return Object.fromEntries(
    [...paths].filter((path) => were.get(path) !== are.get(path)).map((path) => [path, are.get(path)]),
  );
}

function leaves(objects: Readonly<Record<string, Manifest>>): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) found.set(path, value);
    else for (const [key, inner] of Object.entries(value)) walk(inner, `${path}.${key}`);
  };
  for (const [name, object] of Object.entries(objects))
    for (const [key, value] of Object.entries(object)) walk(value, `${name}: ${key}`);
  return found;
}
