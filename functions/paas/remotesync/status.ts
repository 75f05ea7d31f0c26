/** What a RemoteSync says of itself: step by step, and all of it in one condition. Pure. */
import type { ConditionUpdate } from "../../../bus/kube/conditions.ts";
import type { BlockedError } from "../../../bus/worker/errors.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";

type Status = NonNullable<RemoteSync["status"]>;

/** The steps, in their order. */
export const steps = ["SourceResolved", "Built", "Deployed"] as const;
export type Step = (typeof steps)[number];

/** As much as the platform itself writes of what it is told: of anything longer there would be two versions. */
const longestMessage = 2000;

/** What is known so far. */
export interface Said {
  readonly status: { -readonly [K in keyof Status]?: Status[K] | null };
  readonly steps: Map<Step, Omit<ConditionUpdate, "type">>;
  /** Problems of a RemoteSync whose wanted commit runs. */
  readonly warnings: Pick<ConditionUpdate, "reason" | "message">[];
  /** Conditions beside those of the steps. */
  readonly conditions: ConditionUpdate[];
  /** When something is to be looked at again, whatever else happens. Milliseconds. */
  readonly delays: number[];
}

/** Nothing yet. */
export const nothingSaid = (): Said => ({
  status: {},
  steps: new Map(),
  warnings: [],
  conditions: [],
  delays: [],
});

/**
 * All conditions: steps that nobody has come to are unknown. Ready says what the trouble is that is thrown afterwards, or else
 * the first step that has failed, or that is not done. With warnings it is True, with the first one's reason and all their texts.
 */
export function conditionsOf(
  said: Said,
  trouble?: Pick<BlockedError, "reason" | "message">,
): ConditionUpdate[] {
  const all = steps.map(
    (type): ConditionUpdate => ({
      type,
      ...(said.steps.get(type) ?? { status: "Unknown", reason: "Waiting", message: "" }),
    }),
  );
  const open = all.find(({ status }) => status === "False") ?? all.find(({ status }) => status !== "True");
  const found = trouble ?? open;
  const deployed = { reason: "Deployed", message: all.at(-1)?.message ?? "" };
  const { reason, message } = found ?? warningOf(said) ?? deployed;
  const text = message.slice(0, longestMessage);
  return [
    ...all,
    ...said.conditions,
    { type: "Ready", status: found ? "False" : "True", reason, message: text },
  ];
}

/** Adds a warning, and checks again after the pause of the error. */
export function warn(said: Said, { reason, message, retryAfterMillis }: BlockedError): void {
  said.warnings.push({ reason, message });
  said.delays.push(retryAfterMillis);
}

/** All warnings as one. */
export function warningOf({ warnings: [first, ...more] }: Said): typeof first {
  if (first === undefined || more.length === 0) return first;
  return { reason: first.reason, message: [first, ...more].map(({ message }) => message).join(" ") };
}

/** Says what a step has come to. */
export function say(
  said: Said,
  step: Step,
  status: ConditionUpdate["status"],
  reason: string,
  message = "",
): void {
  said.steps.set(step, { status, reason, message: message.slice(0, longestMessage) });
}
