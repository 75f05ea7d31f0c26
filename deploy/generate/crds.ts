/** CRD manifests of the kinds that functions define. */
import { crdOf } from "../../bus/kube/crd.ts";
import { definedKinds, type ReconcileFunction } from "../../bus/worker/function.ts";

/** One CustomResourceDefinition per kind, in the order of the functions. Throws a `TypeError` where a kind has two definitions. */
export function crdManifests(functions: readonly ReconcileFunction[]): Record<string, unknown>[] {
  return definedKinds(functions).map(crdOf);
}
