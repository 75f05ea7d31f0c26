/** The event of an EventRegistration, and its source. */
import type { EventRegistration } from "../../../../functions/pipecd/kinds.ts";
import { Status } from "../ui/status.tsx";

const states = {
  NotHandled: ["busy", "Not handled yet"],
  Succeeded: ["good", "Succeeded"],
  Failed: ["bad", "Failed"],
  Outdated: ["off", "Outdated"],
} as const;

/** The state of the last event at PipeCD. */
export function EventState({ of: status }: { of: EventRegistration["status"] }) {
  if (status?.registered === undefined) return <Status tone="off">None yet</Status>;
  const [tone, word] = states[status.registered.state];
  return <Status tone={tone}>{word}</Status>;
}

/** Where its value comes from. */
export const sourceOf = ({ source }: EventRegistration["spec"]): string =>
  source.remoteSync === undefined ? "Text" : `RemoteSync ${source.remoteSync.name}`;
