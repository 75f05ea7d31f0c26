/** What an EventRegistration says of its value and of the last event. Pure. */
import type { ConditionUpdate } from "../../../bus/kube/conditions.ts";
import { ready } from "../server/dependent.ts";
import type { Registered } from "./decision.ts";

/** Whether PipeCD has an event of the value, and what has become of it. */
export function eventConditions(registered: Registered): ConditionUpdate[] {
  const { eventID, data } = registered;
  return [
    {
      type: "Registered",
      status: "True",
      reason: "Registered",
      message: `PipeCD has the event ${eventID} of ${data}`,
    },
    handled(registered),
  ];
}

/** The condition Ready of an event that may still be handled, or was. */
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

/** Why an event that no agent will handle any more has to be registered again, and how. */
export function trouble({ state, eventID, description }: Registered): {
  readonly reason: "EventFailed" | "EventOutdated";
  readonly message: string;
} {
  const why = description || "PipeCD does not say why";
  const again = "Register it again with pipectl event register, under the same name, labels and data.";
  return state === "Failed"
    ? { reason: "EventFailed", message: `an agent failed to handle the event ${eventID}: ${why}. ${again}` }
    : { reason: "EventOutdated", message: `no agent handled the event ${eventID} in time: ${why}. ${again}` };
}
