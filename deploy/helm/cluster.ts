/** The objects of a cluster by another name than the manifests have: its users on the bus, and the consumers that KEDA looks at. */
import { functions } from "../../functions/index.ts";
import { scaledObject } from "../generate/autoscaling.ts";
import { type AuthorizationOptions, authorizationFile } from "../generate/files.ts";
import { workloadName } from "../generate/rbac.ts";
import { settingsName } from "../generate/workloads.ts";
import { at, natsConfigName, written } from "./places.ts";
import { identity, type Source, type Sources } from "./sources.ts";

/** The cluster and the accounts that a bus is for. */
export interface BusFor extends AuthorizationOptions {
  readonly cluster: string;
}

/** The same with another `DENREI_CLUSTER` or other accounts, and what follows from them. */
export function ofCluster(
  { base, cluster: three, withModules, added }: Sources,
  { cluster, ...options }: BusFor,
): Sources {
  const users = authorizationFile(functions, cluster, options);
  const scaled = new Map(
    functions.map((fn) => [
      `ScaledObject ${workloadName(fn)}`,
      scaledObject(fn, { cluster, namespace: written }) as unknown as Source,
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
    cluster: three.map(changed),
    withModules: withModules.map(changed),
    added: { ...added, keda: added.keda.map(changed) },
  };
}
