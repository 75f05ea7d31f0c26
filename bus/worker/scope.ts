/** Namespaces of a reconcile's reads, derived from the scope of their kinds. Pure. */
import type { ObjectName } from "../kube/client.ts";
import type { Kind } from "../kube/kind.ts";
import { type LabelSelector, labelSelectorOf } from "../kube/labelselector.ts";
import { isPathSegment, type Stored } from "../kube/object.ts";
import type { ObjectKey } from "../subjects.ts";
import type { ListOptions } from "./arguments.ts";

/** The objects that a list returns. */
export interface Selection {
  /** Empty for a cluster-scoped kind; undefined for all namespaces. */
  readonly namespace: string | undefined;
  readonly labels?: LabelSelector;
}

/**
 * The key of an object of this kind, in the namespace of the reconciled object unless another one is given. Throws a `TypeError`
 * if neither names a namespace and the kind needs one.
 */
export function keyOf(kind: Kind, name: string, namespace: string): ObjectKey {
  if (kind.scope === "Cluster") return { namespace: "", name };
  if (namespace !== "") return { namespace, name };
  throw new TypeError(
    `expected the namespace of the ${kind.kind} ${name}, found none: ${kind.kind} is a namespaced kind. ` +
      `Pass the namespace after the name, or declare the kind with scope: "Cluster"`,
  );
}

/**
 * The key of an object to reconcile, as `keys` of a watch or a webhook has returned it: without the namespace if the kind is
 * cluster-scoped. Throws a `TypeError` if no object of the kind can have this key.
 */
export function requestedKey(kind: Kind, { namespace, name }: ObjectKey): ObjectKey {
  if (!isPathSegment(name))
    throw new TypeError(`expected the name of a ${kind.kind} in a key, found ${JSON.stringify(name)}`);
  if (kind.scope === "Cluster") return { namespace: "", name };
  if (isPathSegment(namespace)) return { namespace, name };
  throw new TypeError(
    `expected the namespace of the ${kind.kind} ${name} in its key, found ${JSON.stringify(namespace)}: ` +
      `${kind.kind} is a namespaced kind`,
  );
}

/**
 * The objects that a list with these options returns. Throws a `TypeError` if the options contradict each other or leave the
 * namespace open, and a `RangeError` on an invalid selector.
 */
export function selectionOf(kind: Kind, options: ListOptions, ownNamespace: string): Selection {
  const { namespace, allNamespaces = false, labels } = options;
  const selected = labels === undefined ? {} : { labels: labelSelectorOf(labels) };
  if (kind.scope === "Cluster") return { namespace: "", ...selected };
  if (allNamespaces && namespace !== undefined)
    throw new TypeError(`expected namespace or allNamespaces in a list of ${kind.kind}, found both`);
  if (allNamespaces) return { namespace: undefined, ...selected };
  const within = namespace ?? ownNamespace;
  if (within !== "") return { namespace: within, ...selected };
  throw new TypeError(
    `expected a namespace for a list of ${kind.kind}, found none: pass { namespace: "…" } or { allNamespaces: true }`,
  );
}

/**
 * The namespace of a child: that of its owner, or the given one if the owner is cluster-scoped; undefined for a cluster-scoped
 * child. Throws a `TypeError` if a namespace is missing, or given where the child cannot have it.
 */
export function namespaceOfChild(
  kind: Kind,
  { name, namespace: given }: ObjectName,
  { kind: ownerKind, metadata: { name: ownerName, namespace: ownNamespace } }: Stored,
): string | undefined {
  const child = `the child ${kind.kind} ${name} of ${ownerKind} ${ownerName}`;
  if (kind.scope === "Cluster") {
    if (given === undefined) return undefined;
    throw new TypeError(
      `expected no metadata.namespace in ${child}, found "${given}": ${kind.kind} is cluster-scoped`,
    );
  }
  if (ownNamespace === undefined) {
    if (given) return given;
    throw new TypeError(
      `expected metadata.namespace in ${child}, found none: ${ownerKind} is cluster-scoped, so it has no namespace to inherit. ` +
        `Write metadata: { name: "${name}", namespace: "…" }`,
    );
  }
  if (given === undefined || given === ownNamespace) return ownNamespace;
  throw new TypeError(
    `expected ${child} in the namespace "${ownNamespace}" of its owner, found "${given}": an owner reference cannot cross ` +
      "namespaces. Remove metadata.namespace",
  );
}
