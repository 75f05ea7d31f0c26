/**
 * Making something at PipeCD, of which nobody knows afterwards whether it was done: it is announced before, for whoever comes
 * after one that dies there, also when all there is left to do is to undo it.
 */
import type { ConditionUpdate } from "../../../bus/kube/conditions.ts";
import type { Condition, KubeObject } from "../../../bus/kube/object.ts";
import { ready } from "./dependent.ts";

/** What an object says from before the call until its outcome is written down. `soFar` says what PipeCD has until then. */
export function announcement(soFar: string | undefined): readonly ConditionUpdate[] {
  const message = `PipeCD is asked to register it${soFar === undefined ? "" : `: until then, ${soFar}`}`;
  return [
    { type: "Registered", status: "Unknown", reason: "Registering", message },
    ready("False", "Registering", message),
  ];
}

/** What an object says of a change that PipeCD has not been asked for yet, because of what the condition Ready says. */
export function formerRegistered(
  object: KubeObject<unknown, { conditions?: readonly Condition[] | undefined } | undefined>,
  soFar: string | undefined,
): readonly ConditionUpdate[] {
  if (soFar === undefined || isRegistering(object)) return [];
  const message = `${soFar}: what is wanted now is not registered yet`;
  return [{ type: "Registered", status: "False", reason: "FormerRegistered", message }];
}

/** Whether a registration was begun whose end nobody has written down. */
export const isRegistering = ({
  status,
}: KubeObject<unknown, { conditions?: readonly Condition[] | undefined } | undefined>): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === "Registered" && value === "Unknown") ===
  true;
