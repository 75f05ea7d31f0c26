/**
 * What belongs to an Application. The list is written before anything is made, so that whatever dies in the middle, all
 * that was made is in it. Pure.
 */
import type { Kind } from "../../../bus/kube/kind.ts";
import { groupOf, type KubeObject, type ObjectMeta } from "../../../bus/kube/object.ts";
import type { Application } from "../kinds/application.ts";

/** One object of the list. */
export type Resource = NonNullable<NonNullable<Application["status"]>["resources"]>[number];

/** An object that is wanted, or is there. */
type Child = Pick<KubeObject, "apiVersion" | "kind"> & {
  readonly metadata: Pick<ObjectMeta, "name" | "namespace" | "uid">;
};

/** What tells objects apart. Not the version: the same object has several. */
export const resourceKey = ({
  apiVersion,
  kind,
  name,
}: Pick<Resource, "apiVersion" | "kind" | "name">): string => `${groupOf(apiVersion)}/${kind}/${name}`;

/** An object as the list has it. */
export const resourceOf = ({ apiVersion, kind, metadata }: Child): Resource => ({
  apiVersion,
  kind,
  name: metadata.name,
  ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
  ...(metadata.uid !== undefined && { uid: metadata.uid }),
});

/** The list before anything is made: what is there, and what will be. */
export function announced(before: readonly Resource[], wanted: readonly Child[]): readonly Resource[] {
  const known = new Set(before.map(resourceKey));
  const added = wanted.map(resourceOf).filter((resource) => !known.has(resourceKey(resource)));
  return added.length === 0 ? before : [...before, ...added];
}

/** The list with what is known of those that are there: their uids. */
export const identified = (listed: readonly Resource[], children: readonly Child[]): readonly Resource[] => {
  const known = new Map(children.map(resourceOf).map((resource) => [resourceKey(resource), resource]));
  return listed.map((resource) => known.get(resourceKey(resource)) ?? resource);
};

/** What is not wanted any more. */
export function obsolete(before: readonly Resource[], wanted: readonly Child[]): readonly Resource[] {
  const keys = new Set(wanted.map((object) => resourceKey(resourceOf(object))));
  return before.filter((resource) => !keys.has(resourceKey(resource)));
}

/** The uid that an object had when it was last made. */
export const knownUid = (before: readonly Resource[], object: Child): string | undefined =>
  before.find((resource) => resourceKey(resource) === resourceKey(resourceOf(object)))?.uid;

/** The kind of a listed object, among those that charts may make. */
export const kindOf = (
  { apiVersion, kind }: Pick<Resource, "apiVersion" | "kind">,
  kinds: readonly Kind[],
): Kind | undefined => kinds.find((one) => one.kind === kind && one.group === groupOf(apiVersion));
