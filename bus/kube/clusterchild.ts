/**
 * Children in no namespace of an object that is in one. An owner reference can not point into a namespace
 * (https://kubernetes.io/docs/concepts/architecture/garbage-collection/), so labels and annotations say whose they are, and
 * nobody but their function takes them away.
 */
import { domain } from "./domain.ts";
import { type Kind, kindText } from "./kind.ts";
import { groupOf, type KubeObject, type ObjectMeta, type Stored } from "./object.ts";

const uidLabel = `${domain}/owner-uid`;
const kindAnnotation = `${domain}/owner-kind`;
const namespaceAnnotation = `${domain}/owner-namespace`;
const nameAnnotation = `${domain}/owner-name`;

/** Whether a child of this kind can not have an owner reference to the object. */
export const isOutside = (kind: Pick<Kind, "scope">, owner: KubeObject): boolean =>
  kind.scope === "Cluster" && owner.metadata.namespace !== undefined;

/** What is on a child outside of its owner's namespace. */
export const ownerMarks = (owner: Stored): Required<Pick<ObjectMeta, "labels" | "annotations">> => ({
  labels: { [uidLabel]: owner.metadata.uid },
  annotations: {
    [kindAnnotation]: kindText({ group: groupOf(owner.apiVersion), kind: owner.kind }),
    [namespaceAnnotation]: owner.metadata.namespace ?? "",
    [nameAnnotation]: owner.metadata.name,
  },
});

/** Whether a child outside of its owner's namespace is the owner's. */
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
