/** State and source of an EventRegistration's event. */
import type { EventRegistration } from "../../../../functions/pipecd/kinds.ts";
import { Status } from "../ui/status.tsx";

const states = {
  NotHandled: ["busy", "Not handled yet"],
  Succeeded: ["good", "Succeeded"],
  Failed: ["bad", "Failed"],
  Outdated: ["off", "Outdated"],
} as const;

/** The state of the last registered event in PipeCD. */
export function EventState({ of: status }: { of: EventRegistration["status"] }) {
  if (status?.registered === undefined) return <Status tone="off">None yet</Status>;
  const [tone, word] = states[status.registered.state];
  return <Status tone={tone}>{word}</Status>;
}

/** The source of the event's value. */
export const sourceOf = ({ source }: EventRegistration["spec"]): string =>
  source.remoteSync === undefined ? "Text" : `RemoteSync ${source.remoteSync.name}`;
