/** The components of a control plane, and their replicas. Pure. */
import type { ControlPlane } from "../kinds.ts";

/** In the order in which the status lists them. */
export const components = ["gateway", "server", "cache", "ops"] as const;
export type Component = (typeof components)[number];

/** The desired replicas of a component. */
export function replicasOf({ spec }: Pick<ControlPlane, "spec">, component: Component): number {
  switch (component) {
    case "gateway":
      return spec.replicasGateway ?? spec.replicas ?? 1;
    case "server":
      return spec.replicasServer ?? spec.replicas ?? 1;
    case "cache":
      return spec.replicasCache ?? 1;
    case "ops":
      return spec.replicasOps ?? 1;
  }
}
