/**
 * Announces a registration before the call. If the worker dies during the call, the next owner finds the announcement. It
 * then checks whether PipeCD has the registration, also when the object is being deleted.
 */
import type { Condition, ConditionUpdate, KubeObject } from "denrei";
import { ready } from "./dependent.ts";

/** Conditions from before the call until its outcome is in the status. `current` describes the live registration. */
export function announcement(current: string | undefined): readonly ConditionUpdate[] {
  const message = `registering with PipeCD${current === undefined ? "" : `: until then, ${current}`}`;
  return [
    { type: "Registered", status: "Unknown", reason: "Registering", message },
    ready("False", "Registering", message),
  ];
}

/** Reports a change that did not reach PipeCD. The condition Ready has the reason. */
export function formerRegistered(
  object: KubeObject<unknown, { conditions?: readonly Condition[] | undefined } | undefined>,
  current: string | undefined,
): readonly ConditionUpdate[] {
  if (current === undefined || isRegistering(object)) return [];
  const message = `${current}: the change is not registered yet`;
  return [{ type: "Registered", status: "False", reason: "FormerRegistered", message }];
}

/** Whether a registration was announced and its outcome is not in the status. */
export const isRegistering = ({
  status,
}: KubeObject<unknown, { conditions?: readonly Condition[] | undefined } | undefined>): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === "Registered" && value === "Unknown") ===
  true;
