/** Watches that enqueue dependent objects of the same namespace. */
import { ConfigMap, type Kind, type KubeObject, Namespace, Secret, type Stored, type Watch } from "denrei";

/** Index of objects by their namespace. */
export const namespaceIndex = {
  namespace: ({ metadata }: Stored) => [metadata.namespace ?? ""],
} as const;

/** A change of a `kind` object enqueues all objects of its namespace, at most `perSecond`. Needs {@link namespaceIndex}. */
export const neighbor = <T extends KubeObject>(kind: Kind<T>, perSecond?: number): Watch =>
  ({
    kind,
    ...(perSecond !== undefined && { perSecond }),
    keys: ({ metadata }, find) => find("namespace", metadata.namespace ?? ""),
  }) satisfies Watch<T> as unknown as Watch;

const isGoing = ({ metadata }: Stored): boolean => metadata.deletionTimestamp !== undefined;

/** Like {@link neighbor}, but only from the start of its deletion, for objects that wait for it. */
export const deletedNeighbor = <T extends KubeObject>(kind: Kind<T>): Watch =>
  ({
    kind,
    keys: (object, find) => (isGoing(object) ? find("namespace", object.metadata.namespace ?? "") : []),
  }) satisfies Watch<T> as unknown as Watch;

/** A change of the namespace enqueues all of its objects: it may be deleted, or opted in for Secrets. */
export const ownNamespace: Watch = {
  kind: Namespace,
  keys: ({ metadata }, find) => find("namespace", metadata.name),
};

/** Index value of an object in the same namespace: `<namespace>/<name>`. */
export const within = ({ metadata }: Stored, name: string): string => `${metadata.namespace}/${name}`;

/** A change of a Secret enqueues the objects that refer to it. Needs an index `secret` of {@link within}. */
export const namedSecret: Watch = {
  kind: Secret,
  keys: (object, find) => find("secret", within(object, object.metadata.name)),
};

/** A change of a ConfigMap enqueues the objects that refer to it. Needs an index `configMap` of {@link within}. */
export const namedConfigMap: Watch = {
  kind: ConfigMap,
  keys: (object, find) => find("configMap", within(object, object.metadata.name)),
};
