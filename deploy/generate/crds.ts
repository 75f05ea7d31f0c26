/** CRD manifests of the kinds that functions define. */

import { type ConversionWebhook, crdOf, needsWebhook } from "denrei/kinds";
import { definedKinds, type ReconcileFunction } from "denrei/runtime";
import { admissionName } from "./rbac.ts";

/** Whether the API server needs a webhook for kinds of these functions. */
export const needWebhook = (functions: readonly ReconcileFunction[]): boolean =>
  definedKinds(functions).some(needsWebhook);

/** The webhook in a cluster. Without `ca`, cert-manager adds the certificate from the Certificate of the same name. */
export const clusterWebhook = (namespace: string, ca?: string): ConversionWebhook => ({
  address: { service: { namespace, name: admissionName } },
  ca,
  ...(ca === undefined && {
    annotations: { "cert-manager.io/inject-ca-from": `${namespace}/${admissionName}` },
  }),
});

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
