/** What a RemoteSync says of itself: step by step, and all of it in one condition. Pure. */
import type { ConditionUpdate } from "../../../bus/kube/conditions.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";

type Status = NonNullable<RemoteSync["status"]>;

/** The steps, in their order. */
export const steps = ["SourceResolved", "Built", "Deployed"] as const;
export type Step = (typeof steps)[number];

/** What is known so far. */
export interface Said {
  readonly status: { -readonly [K in keyof Status]?: Status[K] | null };
  readonly steps: Map<Step, Omit<ConditionUpdate, "type">>;
}

/** All conditions: steps that nobody has come to are unknown, and Ready is as the first that is not done. */
export function conditionsOf(said: Said): ConditionUpdate[] {
  const all = steps.map(
    (type): ConditionUpdate => ({
      type,
      ...(said.steps.get(type) ?? { status: "Unknown", reason: "Waiting", message: "" }),
    }),
  );
  const open = all.find(({ status }) => status !== "True");
  const { reason, message } = open ?? { reason: "Deployed", message: all.at(-1)?.message ?? "" };
  return [...all, { type: "Ready", status: open ? "False" : "True", reason, message }];
}

/** Says what a step has come to. */
export function say(
  said: Said,
  step: Step,
  status: ConditionUpdate["status"],
  reason: string,
  message = "",
): void {
  said.steps.set(step, { status, reason, message });
}
