/** Statuses of PipeCD objects. */
import { type Component, components, replicasOf } from "@denrei/functions/pipecd/controlplane/components";
import type { ControlPlane, EventRegistration, Piped } from "@denrei/functions/pipecd/kinds";
import { Status } from "../ui/status.tsx";
import { factText, stateText as text } from "./text.ts";

const connections = {
  ONLINE: "good",
  OFFLINE: "bad",
  UNKNOWN: "off",
} as const;

/** PipeCD reports the connection minutes late. */
export function Connection({ of: { status } }: { of: Piped }) {
  const connection = status?.connection ?? "UNKNOWN";
  return <Status tone={connections[connection]}>{text.connections[connection]}</Status>;
}

const availableOf = ({ status = {} }: ControlPlane): Readonly<Record<Component, number>> => ({
  gateway: status.availableGatewayReplicas ?? 0,
  server: status.availableServerReplicas ?? 0,
  cache: status.availableCacheReplicas ?? 0,
  ops: status.availableOpsReplicas ?? 0,
});

/** The components of a control plane with their available pods. */
export function Parts({ of: plane }: { of: ControlPlane }) {
  return (
    <span class="row">
      {components.map((component) => {
        const available = availableOf(plane)[component];
        const desired = replicasOf(plane, component);
        return (
          <Status key={component} tone={desired === 0 ? "off" : available >= desired ? "good" : "busy"}>
            {component} {available}/{desired}
          </Status>
        );
      })}
    </span>
  );
}

const eventStates = {
  NotHandled: "busy",
  Succeeded: "good",
  Failed: "bad",
  Outdated: "off",
} as const;

/** The state of the last registered event in PipeCD. */
export function EventState({ of: status }: { of: EventRegistration["status"] }) {
  if (status?.registered === undefined) return <Status tone="off">{text.noEvent}</Status>;
  const { state } = status.registered;
  return <Status tone={eventStates[state]}>{text.events[state]}</Status>;
}

/** The source of the event's value. */
export const sourceOf = ({ source }: EventRegistration["spec"]): string =>
  source.remoteSync === undefined ? factText.fixedSource : factText.syncSource(source.remoteSync.name);
