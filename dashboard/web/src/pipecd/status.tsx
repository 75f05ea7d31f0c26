/** Statuses of PipeCD objects. */
import { type Component, components, replicasOf } from "@denrei/functions/pipecd/controlplane/components";
import type { ControlPlane, EventRegistration, Piped } from "@denrei/functions/pipecd/kinds";
import { Status } from "../ui/status.tsx";

const connections = {
  ONLINE: ["good", "Online"],
  OFFLINE: ["bad", "Offline"],
  UNKNOWN: ["off", "Unknown"],
} as const;

/** PipeCD reports the connection minutes late. */
export function Connection({ of: { status } }: { of: Piped }) {
  const [tone, word] = connections[status?.connection ?? "UNKNOWN"];
  return <Status tone={tone}>{word}</Status>;
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
  NotHandled: ["busy", "Not handled yet"],
  Succeeded: ["good", "Succeeded"],
  Failed: ["bad", "Failed"],
  Outdated: ["off", "Outdated"],
} as const;

/** The state of the last registered event in PipeCD. */
export function EventState({ of: status }: { of: EventRegistration["status"] }) {
  if (status?.registered === undefined) return <Status tone="off">None yet</Status>;
  const [tone, word] = eventStates[status.registered.state];
  return <Status tone={tone}>{word}</Status>;
}

/** The source of the event's value. */
export const sourceOf = ({ source }: EventRegistration["spec"]): string =>
  source.remoteSync === undefined ? "Text" : `RemoteSync ${source.remoteSync.name}`;
