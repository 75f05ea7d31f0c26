/** Adapts the manifests to another `DENREI_CLUSTER`: users on the bus, and the consumers that KEDA polls. */
import { scaledObject } from "../generate/autoscaling.ts";
import { type AuthorizationOptions, authorizationFile } from "../generate/files.ts";
import { workloadName } from "../generate/rbac.ts";
import { settingsName } from "../generate/workloads.ts";
import { functions } from "./functions.ts";
import { at, manifestNamespace, natsConfigName } from "./manifesttemplates.ts";
import { identity, type Source, type Sources } from "./sources.ts";

/** The cluster and the accounts that the bus serves. */
export interface BusScope extends AuthorizationOptions {
  readonly cluster: string;
}

/** The same objects for another `DENREI_CLUSTER` or other accounts. */
export function forCluster(
  { base, cluster: threeServers, withModules, hooked, added }: Sources,
  { cluster, ...options }: BusScope,
): Sources {
  const users = authorizationFile(functions, cluster, options);
  const scaled = new Map(
    functions.map((fn) => [
      `ScaledObject ${workloadName(fn)}`,
      scaledObject(fn, { cluster, namespace: manifestNamespace }) as unknown as Source,
    ]),
  );
  const changed = (source: Source): Source => {
    const object = structuredClone(source);
    const name = identity(object);
    if (name === `ConfigMap ${settingsName}`) at(object, "data").DENREI_CLUSTER = cluster;
    if (name === `ConfigMap ${natsConfigName}`) at(object, "data")["authorization.conf"] = users;
    return scaled.get(name) ?? object;
  };
  return {
    base: base.map(changed),
    cluster: threeServers.map(changed),
    withModules: withModules.map(changed),
    hooked,
    added: { ...added, keda: added.keda.map(changed) },
  };
}
