/** Routes of other systems in the cluster. They have no claims, but own their hosts all the same. */
import { type Context, controllerOf, externalKind, isNotFound, type Stored } from "denrei";
import { groupOf } from "denrei/kinds";
import { HTTPRoute, Ingress } from "../charts/kinds.ts";
import { Application } from "../kinds/application.ts";
import { anyHost } from "./names.ts";
import { hostsOf } from "./routes.ts";

const gatewayRoute = (kind: string, plural: string) =>
  externalKind({ group: HTTPRoute.group, version: "v1", kind, plural });

/**
 * Kinds of routes. Charts can make only the first two, so only these are watched. GRPCRoute and TLSRoute are only listed: most
 * clusters have none.
 */
export const routeKinds = [
  Ingress,
  HTTPRoute,
  gatewayRoute("GRPCRoute", "grpcroutes"),
  gatewayRoute("TLSRoute", "tlsroutes"),
] as const;

/** A host of another system's route. */
export interface ServedHost {
  readonly host: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly creationTimestamp: string;
}

/** Whether a route belongs to an Application, whose hosts have claims. */
export function belongsToApplication(route: Stored): boolean {
  const controller = controllerOf(route);
  return controller?.kind === Application.kind && groupOf(controller.apiVersion) === Application.group;
}

/** The hosts of another system's route. A route for all hosts owns none of them. */
export function servedBy(route: Stored): ServedHost[] {
  if (belongsToApplication(route)) return [];
  const { kind } = route;
  const { namespace = "", name, creationTimestamp = "" } = route.metadata;
  return hostsOf(route)
    .filter((host) => host !== anyHost)
    .map((host) => ({ host, kind, namespace, name, creationTimestamp }));
}

/** The hosts of all routes of other systems, read from the API server. */
export async function servedHosts({ live }: Pick<Context, "live">): Promise<readonly ServedHost[]> {
  const lists = await Promise.all(
    routeKinds.map(async (kind) => {
      try {
        const routes = await live.list(kind, { allNamespaces: true });
        const staying = routes.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
        return staying.flatMap(servedBy);
      } catch (error) {
        // Not every cluster has the Gateway API, or all of it.
        if (isNotFound(error)) return [];
        throw error;
      }
    }),
  );
  return lists.flat();
}
