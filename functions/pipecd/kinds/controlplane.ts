/** ControlPlane: gateway, server, cache, and ops of PipeCD. */
import { defineKind, type ObjectOf, z } from "denrei/kinds";
import { version as apiVersion, category, group } from "../names.ts";
import { controlPlaneConfig } from "./controlplaneconfig.ts";
import {
  age,
  conditions,
  count,
  objectName,
  observedGeneration,
  ready,
  serviceName,
  synced,
  time,
  version,
  volumeMounts,
} from "./fields.ts";

const replicas = (component: string) => count.optional().describe(`Number of pods of the ${component}.`);
const available = (component: string) =>
  count.optional().describe(`Number of available pods of the ${component}.`);

/** A control plane of PipeCD. */
export const ControlPlane = defineKind({
  group,
  version: apiVersion,
  kind: "ControlPlane",
  description: "A control plane of PipeCD: gateway, server, cache, and ops.",
  shortNames: ["cpl"],
  categories: [category],
  // `<name>-gateway` is a Service.
  rules: serviceName(55),
  spec: z.object({
    replicas: count.optional().describe("Default for replicasGateway and replicasServer. Default: 1."),
    replicasGateway: replicas("gateway"),
    replicasServer: replicas("server"),
    replicasCache: replicas("cache"),
    replicasOps: replicas("ops"),
    version: version.describe("Version of PipeCD: v0.8.0 to v0.9.0, or v0.37.1 and later."),
    envoyVersion: version
      .optional()
      .describe("Tag of the gateway's image. Default: v1.10.0 up to PipeCD v0.9.0, v1.31.0 from v0.37.1."),
    redisVersion: version.optional().describe("Tag of the cache's image. Default: 5.0.5-alpine3.9."),
    volumeMounts: volumeMounts.optional(),
    config: controlPlaneConfig.describe("PipeCD's own configuration."),
    tls: z
      .object({
        secretName: objectName.describe(
          "Secret of the type kubernetes.io/tls with tls.crt, tls.key, and ca.crt.",
        ),
      })
      .optional()
      .describe("If set, the server speaks gRPC only over TLS. Since PipeCD v0.37.1."),
    bootstrapAPIKeys: z
      .boolean()
      .optional()
      .describe(
        "Whether to create an API key for each project, and to store it in a Secret. Since PipeCD v0.44.0. Default: false.",
      ),
  }),
  status: z.object({
    availableGatewayReplicas: available("gateway"),
    availableServerReplicas: available("server"),
    availableCacheReplicas: available("cache"),
    availableOpsReplicas: available("ops"),
    profile: z
      .enum(["L0", "C"])
      .optional()
      .describe("Profile of the version: L0 is v0.8.0 to v0.9.0, C is v0.37.1 and later."),
    serverRevision: z
      .string()
      .optional()
      .describe("Identifies the last rollout of the server. Workers close connections to older pods."),
    datastoreSince: time
      .optional()
      .describe("When the datastore became ready, if it is a store of this namespace."),
    ...synced,
    observedGeneration,
    conditions: conditions("Ready: all four components are available with the current configuration."),
  }),
  columns: [
    { name: "Version", type: "string", jsonPath: ".spec.version" },
    { name: "Gateway", type: "integer", jsonPath: ".status.availableGatewayReplicas" },
    { name: "Server", type: "integer", jsonPath: ".status.availableServerReplicas" },
    { name: "Cache", type: "integer", jsonPath: ".status.availableCacheReplicas" },
    { name: "Ops", type: "integer", jsonPath: ".status.availableOpsReplicas" },
    ready,
    age,
  ],
});
export type ControlPlane = ObjectOf<typeof ControlPlane>;
