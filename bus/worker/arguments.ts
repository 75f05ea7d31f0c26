/** Types of the arguments of a reconcile's context. */
import type { LabelSelector } from "../kube/labelselector.ts";
import type { KubeObject } from "../kube/object.ts";

/**
 * A child to create: the platform adds apiVersion, kind, namespace, and the controller reference. A namespaced child of a
 * cluster-scoped object needs `metadata.namespace`. A cluster-scoped child of a namespaced object gets labels and annotations
 * instead of a reference (`clusterchild.ts`), and is not garbage-collected: delete it in `finalize`.
 */
export type NewChild<T extends KubeObject> = Omit<T, "apiVersion" | "kind" | "metadata" | "spec" | "status"> &
  SpecOf<T> & {
    readonly metadata: Pick<T["metadata"], "name"> &
      Partial<Pick<T["metadata"], "labels" | "annotations">> & { readonly namespace?: string | undefined };
  };

/** Kinds without a spec, such as ConfigMap, need none. */
export type SpecOf<T extends KubeObject> = undefined extends T["spec"]
  ? { readonly spec?: T["spec"] }
  : { readonly spec: T["spec"] };

/**
 * Fields of a status to write: null clears a field, and undefined keeps it. Objects are merged field by field; lists and other
 * values are replaced.
 */
export type StatusFields<T extends KubeObject> = {
  readonly [F in keyof NonNullable<T["status"]>]?: Clearable<NonNullable<T["status"]>[F]> | null | undefined;
};

/** The same type, in which null clears each optional field. */
export type Clearable<V> = V extends readonly unknown[]
  ? V
  : V extends object
    ? { [F in keyof V]: Clearable<V[F]> | (Record<never, never> extends Pick<V, F> ? null : never) }
    : V;

/** The objects to list. For a cluster-scoped kind, only `labels` counts. */
export interface ListOptions {
  /** Default: the namespace of the reconciled object. */
  readonly namespace?: string | undefined;
  /** Lists every namespace. Needed for a namespaced kind if the reconciled object is cluster-scoped. */
  readonly allNamespaces?: boolean | undefined;
  /** As an object or as text, such as `app=web,tier in (front,back),!canary`. Default: all objects. */
  readonly labels?: LabelSelector | string | undefined;
}
