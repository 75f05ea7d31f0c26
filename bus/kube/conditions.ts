/** Conditions (`metav1.Condition`): their schema, and updates that follow the API conventions. */
import { z } from "zod";
import type { Condition } from "./object.ts";

/** Schema of one condition, for a kind's status. */
export const conditionSchema = z.object({
  type: z.string().max(316).describe("Type of condition in CamelCase."),
  status: z.enum(["True", "False", "Unknown"]).describe("Status of the condition."),
  reason: z.string().max(1024).describe("Why the condition has this status, in one CamelCase word."),
  message: z.string().max(32768).describe("The same for people; may be empty."),
  lastTransitionTime: z.iso.datetime({ offset: true }).describe("When the status last changed."),
  observedGeneration: z
    .int()
    .min(0)
    .optional()
    .describe("The metadata.generation that the condition was set for."),
});

/** A reconciler's update of a condition. {@link withConditions} adds times and generation. */
export type ConditionUpdate = Pick<Condition, "type" | "status" | "reason" | "message">;

/**
 * Merges `updates` into `current`. `lastTransitionTime` changes only with the status, so writing the same condition again
 * changes nothing.
 */
export function withConditions(
  current: readonly Condition[] | undefined,
  updates: readonly ConditionUpdate[],
  at: { readonly generation: number | undefined; readonly now: Date },
): Condition[] {
  const out = [...(current ?? [])];
  for (const update of updates) {
    const index = out.findIndex((condition) => condition.type === update.type);
    const before = index < 0 ? undefined : out[index];
    const condition: Condition = {
      ...update,
      lastTransitionTime:
        before?.status === update.status
          ? before.lastTransitionTime
          : at.now.toISOString().replace(/\.\d+Z$/, "Z"),
      ...(at.generation !== undefined && { observedGeneration: at.generation }),
    };
    if (index < 0) out.push(condition);
    else out[index] = condition;
  }
  return out;
}

/** `current` without the conditions of the given types. */
export const withoutConditions = (
  current: readonly Condition[] | undefined,
  ...types: string[]
): Condition[] => (current ?? []).filter((condition) => !types.includes(condition.type));
