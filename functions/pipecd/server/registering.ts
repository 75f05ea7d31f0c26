/**
 * Making something at PipeCD, of which nobody knows afterwards whether it was done: it is announced before, for whoever comes
 * after one that dies there, also when all there is left to do is to undo it.
 */
import type { ConditionUpdate } from "../../../bus/kube/conditions.ts";
import type { Condition, KubeObject } from "../../../bus/kube/object.ts";
import { ready } from "./dependent.ts";

/** Conditions from before the call until its outcome is in the status. `soFar` describes the live registration. */
export function announcement(soFar: string | undefined): readonly ConditionUpdate[] {
  const message = `PipeCD is asked to register it${soFar === undefined ? "" : `: until then, ${soFar}`}`;
  return [
    { type: "Registered", status: "Unknown", reason: "Registering", message },
    ready("False", "Registering", message),
  ];
}

/** Reports a change that did not reach PipeCD, for the reason in the condition Ready. */
export function formerRegistered(
  object: KubeObject<unknown, { conditions?: readonly Condition[] | undefined } | undefined>,
  soFar: string | undefined,
): readonly ConditionUpdate[] {
  if (soFar === undefined || isRegistering(object)) return [];
  const message = `${soFar}: the change is not registered yet`;
  return [{ type: "Registered", status: "False", reason: "FormerRegistered", message }];
}

/** Whether a registration was begun whose end nobody has written down. */
export const isRegistering = ({
  status,
}: KubeObject<unknown, { conditions?: readonly Condition[] | undefined } | undefined>): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === "Registered" && value === "Unknown") ===
  true;
