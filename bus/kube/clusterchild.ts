/**
 * Cluster-scoped children of namespaced objects. An owner reference cannot point into a namespace
 * (https://kubernetes.io/docs/concepts/architecture/garbage-collection/), so labels and annotations name the owner, and only
 * its function deletes the children.
 */
import { domain } from "./domain.ts";
import { type Kind, kindText } from "./kind.ts";
import { groupOf, type KubeObject, type ObjectMeta, type Stored } from "./object.ts";

const uidLabel = `${domain}/owner-uid`;
const kindAnnotation = `${domain}/owner-kind`;
const namespaceAnnotation = `${domain}/owner-namespace`;
const nameAnnotation = `${domain}/owner-name`;

/** Whether a child of this kind cannot have an owner reference to the object. */
export const isOutside = (kind: Pick<Kind, "scope">, owner: KubeObject): boolean =>
  kind.scope === "Cluster" && owner.metadata.namespace !== undefined;

/** Labels and annotations of a child outside of its owner's namespace. */
export const ownerMarks = (owner: Stored): Required<Pick<ObjectMeta, "labels" | "annotations">> => ({
  labels: { [uidLabel]: owner.metadata.uid },
  annotations: {
    [kindAnnotation]: kindText({ group: groupOf(owner.apiVersion), kind: owner.kind }),
    [namespaceAnnotation]: owner.metadata.namespace ?? "",
    [nameAnnotation]: owner.metadata.name,
  },
});

/** Whether the object is a child outside of its owner's namespace. */
export const isMarked = ({ metadata }: KubeObject): boolean => metadata.labels?.[uidLabel] !== undefined;

/** Whether a child outside of its owner's namespace belongs to the owner. */
export const isMarkedBy = ({ metadata }: KubeObject, owner: Stored): boolean =>
  metadata.labels?.[uidLabel] === owner.metadata.uid;

/** The key of the owner of this kind that an object outside of its namespace names. */
export function markedOwner(
  { metadata: { annotations = {} } }: KubeObject,
  kind: Pick<Kind, "group" | "kind">,
): { readonly namespace: string; readonly name: string } | undefined {
  const { [kindAnnotation]: text, [namespaceAnnotation]: namespace, [nameAnnotation]: name } = annotations;
  return text === kindText(kind) && namespace && name ? { namespace, name } : undefined;
}
