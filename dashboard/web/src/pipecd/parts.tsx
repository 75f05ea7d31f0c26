import {
  type Component,
  components,
  replicasOf,
} from "../../../../functions/pipecd/controlplane/components.ts";
import type { ControlPlane } from "../../../../functions/pipecd/kinds.ts";
import { Status } from "../ui/status.tsx";

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
        const wanted = replicasOf(plane, component);
        return (
          <Status key={component} tone={wanted === 0 ? "off" : available >= wanted ? "good" : "busy"}>
            {component} {available}/{wanted}
          </Status>
        );
      })}
    </span>
  );
}
