/** Piped: the agent of PipeCD. */
import { z } from "zod";
import { defineKind, type ObjectOf } from "../../../bus/kube/kind.ts";
import { version as apiVersion, category, group } from "../names.ts";
import {
  age,
  apiKeySecretRef,
  conditions,
  controlPlaneRef,
  count,
  environmentRef,
  filled,
  insecure,
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
  description: "An agent of PipeCD: it is registered at the control plane, and runs.",
  // The agent may do anything in the cluster, and so may who can use its ServiceAccount.
  writers: "cluster-admin",
  shortNames: ["ppd"],
  categories: [category],
  rules: serviceName(63),
  spec: z.object({
    version: version.describe(
      "Version of PipeCD: v0.8.0 to v0.9.0, or v0.37.1 and later; PipeCD v1 from v1.0.0-rc4.",
    ),
    name: filled.max(100).describe("Its name at PipeCD."),
    description: text.describe("What it is for."),
    projectID,
    environmentRef: environmentRef
      .optional()
      .describe("The environment that it is in. Needed up to PipeCD v0.9.0."),
    insecure,
    volumeMounts: volumeMounts
      .optional()
      .describe("Volumes that the agent has, with files that its configuration names."),
    controlPlaneRef: controlPlaneRef.optional(),
    apiKeySecretRef: apiKeySecretRef.optional(),
    plugins: plugins.optional(),
    config: pipedConfig.describe("What the agent's own configuration has."),
  }),
  status: z.object({
    pipedID: text.optional().describe("PipeCD's id of it."),
    environmentID: text.optional().describe("PipeCD's ids of its environments, separated by commas."),
    registered: z
      .object({
        name: text,
        description: text,
        projectID: text,
        environmentID: text.optional(),
      })
      .optional()
      .describe("What PipeCD was last told."),
    registering: z
      .object({ name: text, projectID: text, keyID: text })
      .optional()
      .describe("What PipeCD is asked to register, until its id is known."),
    former: z
      .array(z.object({ pipedID: text, projectID: text }))
      .optional()
      .describe("Agents at PipeCD that this one has replaced, until they are disabled there."),
    availableReplicas: count.optional().describe("How many pods are available."),
    connection: z
      .enum(["ONLINE", "OFFLINE", "UNKNOWN"])
      .optional()
      .describe("Whether the agent reports to the control plane. PipeCD knows it minutes later."),
    ...synced,
    observedGeneration,
    conditions: conditions("Ready: it is registered, and its pod is available."),
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
