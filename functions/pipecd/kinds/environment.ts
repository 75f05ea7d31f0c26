/** Environment: what Applications are grouped by at PipeCD. */
import { z } from "zod";
import { defineKind, type ObjectOf } from "../../../bus/kube/kind.ts";
import { category, group, version } from "../names.ts";
import {
  age,
  conditions,
  controlPlaneRef,
  filled,
  insecure,
  observedGeneration,
  projectID,
  ready,
  synced,
  text,
} from "./fields.ts";

/** An environment at PipeCD; from v0.37.1 a label of applications. */
export const Environment = defineKind({
  group,
  version,
  kind: "Environment",
  description: "An environment at PipeCD. From v0.37.1 PipeCD has none: it is the label env of applications.",
  shortNames: ["penv"],
  categories: [category],
  spec: z.object({
    name: filled.max(100).describe("Its name at PipeCD."),
    description: text.describe("What it is for. PipeCD is told when the environment is made."),
    projectID,
    insecure,
    controlPlaneRef: controlPlaneRef.optional(),
  }),
  status: z.object({
    environmentID: text.optional().describe("PipeCD's id of it."),
    registered: z.object({ name: text, projectID: text }).optional().describe("What PipeCD was last told."),
    ...synced,
    observedGeneration,
    conditions: conditions("Ready: PipeCD has it, or needs none."),
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
