/** CRD manifests of the kinds that functions define. */
import { crdOf } from "denrei/kinds";
import { definedKinds, type ReconcileFunction } from "denrei/runtime";

/** One CustomResourceDefinition per kind, in the order of the functions. Throws a `TypeError` where a kind has two definitions. */
export function crdManifests(functions: readonly ReconcileFunction[]): Record<string, unknown>[] {
  return definedKinds(functions).map(crdOf);
}
