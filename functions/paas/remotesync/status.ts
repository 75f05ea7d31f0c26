/** The status of a RemoteSync: a condition for each step, and a summary. Pure. */

import type { BlockedError, ConditionUpdate, StatusFields } from "denrei";
import type { RemoteSync } from "../kinds/remotesync.ts";

type Status = StatusFields<RemoteSync>;

/** The steps in order. */
export const steps = ["SourceResolved", "Built", "Deployed"] as const;
export type Step = (typeof steps)[number];

/** The platform cuts messages at this length. A longer one would differ from the stored one at each reconcile. */
const longestMessage = 2000;

/** The status under construction. */
export interface Progress {
  readonly status: { -readonly [K in keyof Status]: Status[K] };
  readonly steps: Map<Step, Omit<ConditionUpdate, "type">>;
  /** Problems of a RemoteSync whose desired commit runs. */
  readonly warnings: Pick<ConditionUpdate, "reason" | "message">[];
  /** Conditions other than those of the steps. */
  readonly conditions: ConditionUpdate[];
  /** Delays after which to reconcile again. Milliseconds. */
  readonly delays: number[];
}

/** An empty status. */
export const newProgress = (): Progress => ({
  status: {},
  steps: new Map(),
  warnings: [],
  conditions: [],
  delays: [],
});

/**
 * All conditions. Steps that were not reached are Unknown. Ready has the reason of the error that is thrown afterwards, or else
 * of the first failed or unfinished step. With only warnings it is True, with the first one's reason and all their messages.
 */
export function conditionsOf(
  progress: Progress,
  blocked?: Pick<BlockedError, "reason" | "message">,
): ConditionUpdate[] {
  const all = steps.map(
    (type): ConditionUpdate => ({
      type,
      ...(progress.steps.get(type) ?? { status: "Unknown", reason: "Waiting", message: "" }),
    }),
  );
  const open = all.find(({ status }) => status === "False") ?? all.find(({ status }) => status !== "True");
  const found = blocked ?? open;
  const deployed = { reason: "Deployed", message: all.at(-1)?.message ?? "" };
  const { reason, message } = found ?? warningOf(progress) ?? deployed;
  const text = message.slice(0, longestMessage);
  return [
    ...all,
    ...progress.conditions,
    { type: "Ready", status: found ? "False" : "True", reason, message: text },
  ];
}

/** Adds a warning, and reconciles again after the error's retry interval. */
export function warn(progress: Progress, { reason, message, retryAfterMillis }: BlockedError): void {
  progress.warnings.push({ reason, message });
  progress.delays.push(retryAfterMillis);
}

/** Combines all warnings into one. */
export function warningOf({ warnings: [first, ...more] }: Progress): typeof first {
  if (first === undefined || more.length === 0) return first;
  return { reason: first.reason, message: [first, ...more].map(({ message }) => message).join(" ") };
}

/** Sets the condition of a step. */
export function setStep(
  progress: Progress,
  step: Step,
  status: ConditionUpdate["status"],
  reason: string,
  message = "",
): void {
  progress.steps.set(step, { status, reason, message: message.slice(0, longestMessage) });
}
