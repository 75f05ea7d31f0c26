/**
 * Whether Gateways accept the routes of an Application. A route without a status counts as accepted: the cluster may have no
 * Gateway controller, or it has not processed the route yet. Pure.
 * https://gateway-api.sigs.k8s.io/reference/spec/#routeparentstatus
 */
import type { KubeObject, Stored } from "denrei";
import { HTTPRoute } from "../charts/kinds.ts";

interface ParentRef {
  readonly name: string;
  readonly namespace?: string;
}

type Route = KubeObject<
  { readonly parentRefs?: readonly ParentRef[] },
  {
    readonly parents?: readonly {
      readonly parentRef: ParentRef;
      readonly conditions?: readonly {
        readonly type: string;
        readonly status: string;
        readonly reason?: string;
        readonly message?: string;
        readonly observedGeneration?: number;
      }[];
    }[];
  }
>;

/** Conditions of a Gateway that a working route needs. */
const needed = ["Accepted", "ResolvedRefs"];

/** Why the first refused route was refused, in a sentence. */
export function refusedRoute(children: readonly Stored[]): string | undefined {
  const routes = children.filter(({ kind }) => kind === HTTPRoute.kind) as Stored<Route>[];
  for (const { metadata, spec, status } of routes) {
    const { name, namespace, generation = 0 } = metadata;
    const textOf = (parent: ParentRef) => `${parent.namespace ?? namespace}/${parent.name}`;
    const desired = new Set(spec.parentRefs?.map(textOf));
    for (const { parentRef, conditions = [] } of status?.parents ?? []) {
      if (!desired.has(textOf(parentRef))) continue;
      const refusal = conditions.find(
        (condition) =>
          needed.includes(condition.type) &&
          condition.status === "False" &&
          (condition.observedGeneration ?? generation) >= generation,
      );
      if (refusal)
        return `the Gateway ${textOf(parentRef)} does not accept the HTTPRoute ${name}: ${refusal.reason ?? refusal.type}: ${refusal.message ?? "no message"}`;
    }
  }
  return undefined;
}
