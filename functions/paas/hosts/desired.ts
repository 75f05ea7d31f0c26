/** The hosts of an Application, and the watches that enqueue it when a host is released. Pure. */
import type { Find, PolicyRule, Stored, Watch } from "denrei";
import { HTTPRoute, Ingress } from "../charts/kinds.ts";
import type { ChildObject } from "../charts/validate.ts";
import type { Application } from "../kinds/application.ts";
import { HostClaim } from "../kinds/hostclaim.ts";
import { canonicalHost, wildcardsOver } from "./names.ts";
import { domainsOf } from "./policy.ts";
import { hostsOf } from "./routes.ts";
import { routeKinds, servedBy } from "./servedroutes.ts";

type App = Stored<Application>;
type Status = NonNullable<Application["status"]>;

const unique = (hosts: readonly string[]): string[] => [...new Set(hosts)];

/** The hosts of an Application. */
export interface DesiredHosts {
  readonly desired: readonly string[];
  /** All hosts that the Application may have claims for. */
  readonly before: readonly string[];
  /** Written before anything is claimed, so that every claim is eventually released, even if the worker dies in between. */
  readonly statusFields: Pick<Status, "hosts" | "domains">;
}

/** Collects the hosts of an Application: its domains, and those of the rendered objects or, after a failure, the previous ones too. */
export function desiredHosts(
  app: App,
  objects: readonly ChildObject[],
  which: "current" | "current and previous",
): DesiredHosts {
  const noted = app.status?.hosts ?? [];
  const domains = domainsOf(app);
  const desired = unique([
    ...domains,
    ...objects.flatMap(hostsOf),
    ...(which === "current" ? [] : [...noted, ...(app.status?.domains ?? []).map(canonicalHost)]),
  ]);
  const before = unique([...noted, ...desired]);
  const served = app.status?.domains?.filter((domain) => desired.includes(canonicalHost(domain)));
  return { desired, before, statusFields: { hosts: before, ...(served && { domains: served }) } };
}

/** Index of Applications by their hosts, and by the wildcards that cover these. */
export const hostIndex = {
  host: (app: App) =>
    unique(
      [...domainsOf(app), ...(app.status?.hosts ?? [])].flatMap((host) => [host, ...wildcardsOver(host)]),
    ),
};

const ofClaim: Watch<HostClaim> = {
  kind: HostClaim,
  keys: async ({ spec: { host, namespace, application } }, find) => [
    { namespace, name: application },
    ...(await find("host", host)),
  ],
};

/** Applications that may take or lose a host when another system's route changes. */
const keysOfRoute = async (route: Stored, find: Find) => {
  const keys = await Promise.all(servedBy(route).map(({ host }) => find("host", host)));
  return keys.flat();
};

/** Enqueues Applications that want a host when its owner changes. */
export const watchHosts: readonly Watch[] = [
  ofClaim,
  { kind: Ingress, keys: keysOfRoute },
  { kind: HTTPRoute, keys: keysOfRoute },
];

/** Claiming a host lists the routes of the whole cluster. */
export const hostPermissions: readonly PolicyRule[] = [
  { apiGroups: [HostClaim.group], resources: [HostClaim.plural], verbs: ["create", "delete"] },
  ...routeKinds.map(({ group, plural }) => ({ apiGroups: [group], resources: [plural], verbs: ["list"] })),
];
