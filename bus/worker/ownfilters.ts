/**
 * Filters of a function's objects and of their children. Selectors of the objects are compared with each version, and keep
 * nothing. Projections, and filters of children, work as filtered watches do.
 */
import { markedOwner } from "../kube/clusterchild.ts";
import type { Kind } from "../kube/kind.ts";
import { controllerOf, groupOf, type KubeObject, type Stored } from "../kube/object.ts";
import type { ObjectKey } from "../subjects.ts";
import { digestOf } from "../values/digest.ts";
import {
  checkWatches,
  type Filter,
  type FilteredWatch,
  filteredWatches,
  isSelected,
  selectorsText,
  type Watch,
} from "./watch.ts";

/** A kind of children, of which only some changes request a reconcile. */
export interface OwnedKind<T extends KubeObject = KubeObject> extends Filter<T> {
  readonly kind: Kind<T>;
}

/** Whether a kind of children is declared in the form that can have a filter. */
export const isOwnedKind = (owned: Kind | OwnedKind): owned is OwnedKind => typeof owned.kind !== "string";

/** The parts of a function that its filters depend on. */
interface Filtering {
  readonly for: Kind;
  readonly filter: Filter | undefined;
  readonly ownsFiltered: readonly OwnedKind[];
  readonly watches: readonly Watch[];
  readonly annotations: readonly string[];
  readonly finalizer: string | undefined;
}

/**
 * Whether the function reconciles this version of an object: it matches the filter, or it is being deleted and has the finalizer
 * of the function.
 */
export const isReconciled = (
  { filter = {}, finalizer }: Pick<Filtering, "filter" | "finalizer">,
  object: Stored,
): boolean => isFinalizable(object, finalizer) || isSelected(filter, object);

/** Whether an object waits for its finalizer to be removed. */
export const isFinalizable = ({ metadata }: Stored, finalizer: string | undefined): boolean =>
  metadata.deletionTimestamp !== undefined &&
  finalizer !== undefined &&
  metadata.finalizers?.includes(finalizer) === true;

/** Everything that keeps records. Watches come first: their numbers do not depend on the other filters. */
export const recordedWatches = (fn: Filtering): FilteredWatch[] =>
  filteredWatches([...fn.watches, ...watchesOfChildren(fn), ...watchesOfObjects(fn)]);

const watchesOfChildren = ({ ownsFiltered, for: owner }: Filtering): Watch[] =>
  ownsFiltered.map((owned) => ({
    ...owned,
    keys: (child) => listOf(controllerKey(owner, child)),
  }));

const listOf = (key: ObjectKey | undefined): ObjectKey[] => (key === undefined ? [] : [key]);

/** Without a projection, a version shows whether it is reconciled. */
const watchesOfObjects = ({ for: kind, filter }: Filtering): Watch[] =>
  filter?.changed === undefined
    ? []
    : [{ ...filter, kind, keys: ({ metadata: { namespace = "", name } }) => [{ namespace, name }] }];

/** The key of the object of the kind `owner` that controls a child; undefined without such a controller. */
export function controllerKey(owner: Kind, child: Stored): ObjectKey | undefined {
  const { namespace = "" } = child.metadata;
  if (namespace === "" && owner.scope === "Namespaced") return markedOwner(child, owner);
  const controller = controllerOf(child);
  if (controller?.kind !== owner.kind || groupOf(controller.apiVersion) !== owner.group) return undefined;
  return { namespace: owner.scope === "Cluster" ? "" : namespace, name: controller.name };
}

/** Identifies the selectors of a function: other ones need a router that starts with all objects. */
export function routerFilters(fn: Filtering): string[] {
  const recorded = recordedWatches(fn).map(({ watch }) => selectorsText(watch));
  if (fn.filter === undefined) return recorded;
  const { labels, fields, where } = fn.filter;
  // With the code of `where`: an object that it starts to match has no other event.
  return [...recorded, `for ${digestOf([labels, fields, where?.toString()], 16)}`];
}

/** Checks all filters of a function. Throws a `TypeError` for one on a part that is never on the bus. */
export function checkFilters(fn: Filtering): void {
  const own = fn.filter === undefined ? [] : [{ ...fn.filter, kind: fn.for, keys: () => [] }];
  checkWatches([...fn.watches, ...watchesOfChildren(fn), ...own], fn.annotations);
}
