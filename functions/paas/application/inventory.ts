/**
 * The inventory of an Application: all objects that belong to it. Objects are listed as planned before they are created, so the
 * inventory is complete even if the worker dies in between. Pure.
 */
import type { Kind, KubeObject, ObjectMeta } from "denrei";
import { groupOf } from "denrei/kinds";
import type { Application } from "../kinds/application.ts";

type Status = NonNullable<Application["status"]>;

/** An object in the inventory. */
export type Resource = NonNullable<Status["resources"]>[number];

/** Existing and planned objects. */
export const inventoryOf = (status: Application["status"]): readonly Resource[] => [
  ...(status?.resources ?? []),
  ...(status?.planned ?? []),
];

/** The fields of the status for an inventory. Only objects with a uid exist for certain. */
export function inventoryFields(inventory: readonly Resource[]) {
  const planned = inventory.filter(({ uid }) => uid === undefined);
  return {
    resources: inventory.filter(({ uid }) => uid !== undefined),
    planned: planned.length > 0 ? planned : null,
  };
}

/** A rendered or existing object. */
type Child = Pick<KubeObject, "apiVersion" | "kind"> & {
  readonly metadata: Pick<ObjectMeta, "name" | "namespace" | "uid">;
};

/** Identity of an object. The version does not count: one object has several. */
export const resourceKey = ({
  apiVersion,
  kind,
  name,
}: Pick<Resource, "apiVersion" | "kind" | "name">): string => `${groupOf(apiVersion)}/${kind}/${name}`;

/** The inventory entry of an object. */
export const resourceOf = ({ apiVersion, kind, metadata }: Child): Resource => ({
  apiVersion,
  kind,
  name: metadata.name,
  ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
  ...(metadata.uid !== undefined && { uid: metadata.uid }),
});

/** The inventory before the objects are applied: the existing entries, and those to create. */
export function withPlanned(before: readonly Resource[], desired: readonly Child[]): readonly Resource[] {
  const known = new Set(before.map(resourceKey));
  const added = desired.map(resourceOf).filter((resource) => !known.has(resourceKey(resource)));
  return added.length === 0 ? before : [...before, ...added];
}

/** The inventory with the uids of the applied objects. */
export const withUids = (listed: readonly Resource[], children: readonly Child[]): readonly Resource[] => {
  const known = new Map(children.map(resourceOf).map((resource) => [resourceKey(resource), resource]));
  return listed.map((resource) => known.get(resourceKey(resource)) ?? resource);
};

/** Entries that the chart no longer renders. */
export function obsolete(before: readonly Resource[], desired: readonly Child[]): readonly Resource[] {
  const keys = new Set(desired.map((object) => resourceKey(resourceOf(object))));
  return before.filter((resource) => !keys.has(resourceKey(resource)));
}

/** The uid of an object when it was last applied. */
export const knownUid = (before: readonly Resource[], object: Child): string | undefined =>
  before.find((resource) => resourceKey(resource) === resourceKey(resourceOf(object)))?.uid;

/** The kind of an object among `kinds`. */
export const kindOf = (
  { apiVersion, kind }: Pick<Resource, "apiVersion" | "kind">,
  kinds: readonly Kind[],
): Kind | undefined => kinds.find((one) => one.kind === kind && one.group === groupOf(apiVersion));
