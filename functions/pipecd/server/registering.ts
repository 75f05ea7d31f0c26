/**
 * Making something at PipeCD, of which nobody knows afterwards whether it was done: it is announced before, for whoever comes
 * after one that dies there, also when all there is left to do is to undo it.
 */
import type { ConditionUpdate } from "../../../bus/kube/conditions.ts";
import type { Condition, KubeObject } from "../../../bus/kube/object.ts";
import { ready } from "./dependent.ts";

const message = "PipeCD is being told of it";

/** What an object says from before the call until its outcome is written down. */
export const announcement: readonly ConditionUpdate[] = [
  { type: "Registered", status: "Unknown", reason: "Registering", message },
  ready("False", "Registering", message),
];

/** Whether a registration was begun whose end nobody has written down. */
export const isRegistering = ({
  status,
}: KubeObject<unknown, { conditions?: readonly Condition[] | undefined } | undefined>): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === "Registered" && value === "Unknown") ===
  true;
