/**
 * The CRDs of the Gateway API, standard channel, from its Go module: this folder's go.mod pins the version, which has to be
 * one for the API server of the local platform. https://gateway-api.sigs.k8s.io/
 */
import { fileURLToPath } from "node:url";
import { crdsIn } from "../harness/gomodule.ts";

/**
 * Every CRD of the channel: GatewayClass, Gateway, HTTPRoute, ReferenceGrant and the others, without the policies that are
 * published beside them.
 */
export const gatewayCrds = (): Promise<Record<string, unknown>[]> =>
  crdsIn({
    folder: fileURLToPath(new URL(".", import.meta.url)),
    module: "sigs.k8s.io/gateway-api",
    path: "config/crd/standard",
    project: "the Gateway API",
  });
