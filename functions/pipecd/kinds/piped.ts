/** Piped: the agent of PipeCD. */
import { defineKind, type ObjectOf, z } from "denrei/kinds";
import { version as apiVersion, category, group } from "../names.ts";
import {
  age,
  apiKeySecretRef,
  conditions,
  controlPlaneRef,
  count,
  environmentRef,
  insecure,
  nonEmpty,
  observedGeneration,
  projectID,
  ready,
  serviceName,
  synced,
  text,
  version,
  volumeMounts,
} from "./fields.ts";
import { pipedConfig } from "./pipedconfig.ts";
import { plugins } from "./plugins.ts";

/** An agent of PipeCD, registered and running. */
export const Piped = defineKind({
  group,
  version: apiVersion,
  kind: "Piped",
  description: "An agent of PipeCD, registered with the control plane and running in a pod.",
  // The agent has all permissions in the cluster, and so does anyone who can use its ServiceAccount.
  writers: "cluster-admin",
  shortNames: ["ppd"],
  categories: [category],
  rules: serviceName(63),
  spec: z.object({
    version: version.describe(
      "Version of PipeCD: v0.8.0 to v0.9.0, or v0.37.1 and later; PipeCD v1 from v1.0.0-rc4.",
    ),
    name: nonEmpty.max(100).describe("Name in PipeCD."),
    description: text.describe("Description in PipeCD."),
    projectID,
    environmentRef: environmentRef
      .optional()
      .describe("Environment of the agent. Required up to PipeCD v0.9.0."),
    insecure,
    volumeMounts: volumeMounts
      .optional()
      .describe("Volumes of the agent, with files that its configuration refers to."),
    controlPlaneRef: controlPlaneRef.optional(),
    apiKeySecretRef: apiKeySecretRef.optional(),
    plugins: plugins.optional(),
    config: pipedConfig.describe("The agent's own configuration."),
  }),
  status: z.object({
    pipedID: text.optional().describe("Id in PipeCD."),
    environmentID: text.optional().describe("Ids of the environments in PipeCD, separated by commas."),
    registered: z
      .object({
        name: text,
        description: text,
        projectID: text,
        environmentID: text.optional(),
      })
      .optional()
      .describe("The last registration with PipeCD."),
    registering: z
      .object({ name: text, projectID: text, keyID: text })
      .optional()
      .describe("The registration in progress."),
    former: z
      .array(z.object({ pipedID: text, projectID: text }))
      .optional()
      .describe("Replaced agents in PipeCD, until they are disabled there."),
    availableReplicas: count.optional().describe("Number of available pods."),
    connection: z
      .enum(["ONLINE", "OFFLINE", "UNKNOWN"])
      .optional()
      .describe("Whether the agent is connected to the control plane. PipeCD reports changes minutes late."),
    ...synced,
    observedGeneration,
    conditions: conditions("Ready: the agent is registered, and its pod is available."),
  }),
  columns: [
    { name: "Project", type: "string", jsonPath: ".spec.projectID" },
    { name: "Piped", type: "string", jsonPath: ".spec.name" },
    { name: "Version", type: "string", jsonPath: ".spec.version" },
    { name: "ID", type: "string", jsonPath: ".status.pipedID" },
    { name: "Available", type: "integer", jsonPath: ".status.availableReplicas" },
    ready,
    age,
  ],
});
export type Piped = ObjectOf<typeof Piped>;
