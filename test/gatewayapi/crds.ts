/**
 * The CRDs of the Gateway API, standard channel, from its Go module. go.mod in this folder pins the version, which must support
 * the API server of the local platform. https://gateway-api.sigs.k8s.io/
 */
import { fileURLToPath } from "node:url";
import { crdsIn } from "../harness/gomodule.ts";

/**
 * Every CRD of the channel: GatewayClass, Gateway, HTTPRoute, ReferenceGrant, and others, without the policies in the same
 * release.
 */
export const gatewayCrds = (): Promise<Record<string, unknown>[]> =>
  crdsIn({
    folder: fileURLToPath(new URL(".", import.meta.url)),
    module: "sigs.k8s.io/gateway-api",
    path: "config/crd/standard",
    project: "the Gateway API",
  });
