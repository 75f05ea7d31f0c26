/** Conditions of an EventRegistration. Pure. */
import type { ConditionUpdate } from "denrei";
import { ready } from "../server/dependent.ts";
import type { Registered } from "./decision.ts";

/** The conditions Registered and Handled of the last event. */
export function eventConditions(registered: Registered): ConditionUpdate[] {
  const { eventID, data } = registered;
  return [
    {
      type: "Registered",
      status: "True",
      reason: "Registered",
      message: `PipeCD has the event ${eventID} for ${data}`,
    },
    handled(registered),
  ];
}

/** The condition Ready of an event that was handled, or may still be. */
export const readyOf = ({ state }: Registered): ConditionUpdate =>
  state === "Succeeded"
    ? ready("True", "Handled", "an agent has handled the event")
    : ready("True", "Registered", "PipeCD has the event, and no agent has handled it yet");

function handled({ state, description }: Registered): ConditionUpdate {
  const type = "Handled";
  switch (state) {
    case "Succeeded":
      return { type, status: "True", reason: "Succeeded", message: description };
    case "NotHandled":
      return { type, status: "Unknown", reason: "NotHandled", message: "no agent has handled the event yet" };
    case "Failed":
    case "Outdated":
      return { type, status: "False", reason: state, message: description };
  }
}

/** The error for an event that no agent will handle anymore, with instructions to register it again. */
export function failureOf({ state, eventID, description }: Registered): {
  readonly reason: "EventFailed" | "EventOutdated";
  readonly message: string;
} {
  const why = description || "PipeCD gave no reason";
  const again = "Register it again with pipectl event register and the same name, labels, and data.";
  return state === "Failed"
    ? { reason: "EventFailed", message: `an agent failed to handle the event ${eventID}: ${why}. ${again}` }
    : { reason: "EventOutdated", message: `no agent handled the event ${eventID} in time: ${why}. ${again}` };
}
