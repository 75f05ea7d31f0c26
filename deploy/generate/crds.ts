/** CRD manifests of the kinds that functions define. */
import { type ConversionWebhook, crdOf } from "../../bus/kube/crd.ts";
import { definedKinds, type ReconcileFunction } from "../../bus/worker/function.ts";

/**
 * One CustomResourceDefinition per kind, in the order of the functions. Throws a `TypeError` where a kind has two definitions, or
 * several versions while there is no `webhook`.
 */
export function crdManifests(
  functions: readonly ReconcileFunction[],
  webhook?: ConversionWebhook,
): Record<string, unknown>[] {
  return definedKinds(functions).map((kind) => crdOf(kind, webhook));
}
