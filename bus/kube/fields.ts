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

/** Name of an object: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names */
export const objectName = z
  .string()
  .max(253)
  .regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    "Use lowercase letters, digits, dashes, and dots. Start and end with a letter or digit.",
  );

/** Key of a Secret or a ConfigMap. */
export const dataKey = z
  .string()
  .max(253)
  .regex(
    /^\.?[-_a-zA-Z0-9][-._a-zA-Z0-9]*$/,
    "Use letters, digits, dashes, underscores, and dots. Do not start with two dots.",
  );

const quantityText = /^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$/;
/** An amount, 0 or more: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
export const quantity = z.union([
  z.int().min(0),
  z.string().regex(quantityText, "Enter an amount of 0 or more, such as 500m for CPUs or 512Mi for memory."),
]);
