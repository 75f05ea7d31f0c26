/** Who wakes whom: the objects of one namespace depend on each other. */
import { ConfigMap, type Kind, Namespace, Secret } from "../../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import type { Watch } from "../../../bus/worker/function.ts";

/** What objects are found by. */
export const namespaceIndex = {
  namespace: ({ metadata }: Stored) => [metadata.namespace ?? ""],
} as const;

/** Any change of one wakes all objects of its namespace, at most so many a second; needs {@link namespaceIndex}. */
export const neighbour = <T extends KubeObject>(kind: Kind<T>, perSecond?: number): Watch =>
  ({
    kind,
    ...(perSecond !== undefined && { perSecond }),
    keys: ({ metadata }, find) => find("namespace", metadata.namespace ?? ""),
  }) satisfies Watch<T> as unknown as Watch;

const isGoing = ({ metadata }: Stored): boolean => metadata.deletionTimestamp !== undefined;

/** The same, from when it is deleted: whoever waits for it to be gone is told. */
export const leavingNeighbour = <T extends KubeObject>(kind: Kind<T>): Watch =>
  ({
    kind,
    keys: (object, find) => (isGoing(object) ? find("namespace", object.metadata.namespace ?? "") : []),
  }) satisfies Watch<T> as unknown as Watch;

/** A namespace wakes all that is in it: it may go, or its Secrets may be read from now on. */
export const ownNamespace: Watch = {
  kind: Namespace,
  keys: ({ metadata }, find) => find("namespace", metadata.name),
};

/** Text of a Secret or ConfigMap of the object's namespace, for an index. */
export const within = ({ metadata }: Stored, name: string): string => `${metadata.namespace}/${name}`;

/** A Secret wakes those that name it; needs an index `secret` of {@link within}. */
export const namedSecret: Watch = {
  kind: Secret,
  keys: (object, find) => find("secret", within(object, object.metadata.name)),
};

/** A ConfigMap wakes those that name it; needs an index `configMap` of {@link within}. */
export const namedConfigMap: Watch = {
  kind: ConfigMap,
  keys: (object, find) => find("configMap", within(object, object.metadata.name)),
};
