/** Environment: groups Applications in PipeCD. */
import { defineKind, type ObjectOf, z } from "denrei/kinds";
import { category, group, version } from "../names.ts";
import {
  age,
  conditions,
  controlPlaneRef,
  insecure,
  nonEmpty,
  observedGeneration,
  projectID,
  ready,
  synced,
  text,
} from "./fields.ts";

/** An environment in PipeCD; from v0.37.1 a label of applications. */
export const Environment = defineKind({
  group,
  version,
  kind: "Environment",
  description: "An environment in PipeCD. From v0.37.1, the label env of applications replaces environments.",
  shortNames: ["penv"],
  categories: [category],
  spec: z.object({
    name: nonEmpty.max(100).describe("Name in PipeCD."),
    description: text.describe("Description in PipeCD, which is set only at creation."),
    projectID,
    insecure,
    controlPlaneRef: controlPlaneRef.optional(),
  }),
  status: z.object({
    environmentID: text.optional().describe("Id in PipeCD."),
    registered: z
      .object({ name: text, projectID: text })
      .optional()
      .describe("The last registration with PipeCD."),
    ...synced,
    observedGeneration,
    conditions: conditions("Ready: PipeCD has it, or has no environments."),
  }),
  columns: [
    { name: "Project", type: "string", jsonPath: ".spec.projectID" },
    { name: "Env", type: "string", jsonPath: ".spec.name" },
    { name: "ID", type: "string", jsonPath: ".status.environmentID" },
    ready,
    age,
  ],
});
export type Environment = ObjectOf<typeof Environment>;
