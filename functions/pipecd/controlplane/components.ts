/** Which parts a control plane has, and of how many pods. Pure. */
import type { ControlPlane } from "../kinds.ts";

/** The parts. */
export const components = ["gateway", "server", "cache", "ops"] as const;
export type Component = (typeof components)[number];

/** How many pods a part has. */
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
