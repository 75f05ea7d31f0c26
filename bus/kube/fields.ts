/** Fields and columns that many kinds share. */
import { z } from "zod";
import { conditionSchema } from "./conditions.ts";
import { listMap } from "./crd.ts";

/** The column of the condition `Ready`. */
export const ready = {
  name: "Ready",
  type: "string",
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
} as const;
/** The column with the age of an object. */
export const age = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" } as const;

/** The conditions of a status. `text` describes them in `kubectl explain`. */
export const conditions = (text: string) =>
  z.array(conditionSchema).optional().meta(listMap("type")).describe(text);
/** The generation that the status describes. */
export const observedGeneration = z
  .int()
  .min(0)
  .optional()
  .describe("The metadata.generation last reconciled.");
/** RFC 3339. */
export const time = z.iso.datetime({ offset: true });

/** Name of an object. */
export const objectName = z.string().min(1).max(253);

const quantityText = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$/;
/** An amount: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
export const quantity = z.union([
  z.int(),
  z.string().regex(quantityText, "expected a quantity, such as 500m for CPUs or 512Mi for memory"),
]);
