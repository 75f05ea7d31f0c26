/** CRD manifests of the kinds that functions define. */
import { crdOf } from "../../bus/kube/crd.ts";
import { kindsOf, type ReconcileFunction } from "../../bus/worker/function.ts";

/** One CustomResourceDefinition per kind, in the order of the functions. */
export function crdManifests(functions: readonly ReconcileFunction[]): Record<string, unknown>[] {
  const kinds = [...new Set(functions.flatMap(kindsOf))];
  return kinds.filter((kind) => kind.definition !== undefined).map(crdOf);
}
