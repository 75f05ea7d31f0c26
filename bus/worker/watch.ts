/** Watches: declarations, filters, and projections. */
import { type Kind, kindText } from "../kube/kind.ts";
import { type LabelSelector, selects } from "../kube/labelselector.ts";
import type { KubeObject, Stored } from "../kube/object.ts";
import type { Find } from "../objects/indexes.ts";
import type { ObjectKey } from "../subjects.ts";
import { digestOf } from "../values/digest.ts";
import { ownValue } from "../values/ownvalue.ts";
import { PublishedOnlyError, publishedProbe } from "./publishedprobe.ts";

/** Keys of objects to reconcile. */
export type Keys = readonly ObjectKey[] | Promise<readonly ObjectKey[]>;

/**
 * A part of an object to compare, as a JSON value. Pure. `generation`, `labels`, and `annotations` are ready to use; combine
 * several in a list: `(object) => [generation(object), labels(object)]`.
 */
export type Projection<T extends KubeObject = KubeObject> = (object: Stored<T>) => unknown;

/** Names objects by label and field, and the part of them whose changes matter. */
export interface Filter<T extends KubeObject = KubeObject> {
  /** Only objects with matching labels. */
  readonly labels?: LabelSelector;
  /**
   * Only objects whose fields have these values, by path: `{ "spec.nodeName": "a" }`. Paths do not lead into lists. An empty
   * text also matches an absent field.
   */
  readonly fields?: Readonly<Record<string, string | number | boolean>>;
  /** Only objects for which this returns true. Pure. */
  where?(object: Stored<T>): boolean;
  /**
   * Only changes of this part of the object, and objects that appear or disappear: `changed: generation`. Changes in quick
   * succession may request their keys although they leave this part unchanged.
   */
  changed?(object: Stored<T>): unknown;
}

/**
 * Enqueues requests on changes of objects that the function does not own. Runs in every replica: pure except for reads.
 *
 * With `labels`, `fields`, `where`, or `changed`, the watch is filtered: only changes of matching objects request anything, and
 * an object that stops matching requests its keys once more. Filters run in the worker, and the bridge still publishes all
 * objects of the kind. A filtered watch costs one read of the bus for each change of the kind, and one write for each change of
 * a matching object. It stores a record of about 300 bytes and the keys for each matching object. Without filters, a watch
 * costs neither.
 *
 * @example
 * ```ts
 * watches: [
 *   {
 *     kind: Pod,
 *     labels: { matchLabels: { app: "web" } },
 *     changed: labels,
 *     keys: ({ metadata: { namespace = "" } }) => [{ namespace, name: "web" }],
 *   },
 * ],
 * ```
 */
export interface Watch<T extends KubeObject = KubeObject> extends Filter<T> {
  readonly kind: Kind<T>;
  /**
   * Returns the keys to request. `find` looks up objects of the function's kind by one of its indexes. A filtered watch also
   * requests the keys that it last requested for the object, up to 1,000.
   */
  keys(object: Stored<T>, find: Find): Keys;
  /** Limit of requests per second, for an object that many others depend on. Without it, all at once. */
  readonly perSecond?: number;
}

/** The generation, which the API server increments when the spec changes. The version, for kinds that have no generation. */
export const generation: Projection = ({ metadata }) => metadata.generation ?? metadata.resourceVersion;

/** All labels. */
export const labels: Projection = ({ metadata }) => metadata.labels ?? {};

/** All annotations that are published. */
export const annotations: Projection = ({ metadata }) => metadata.annotations ?? {};

/** Whether a filter excludes anything. */
export const isFiltered = ({ labels, fields, where, changed }: Filter): boolean =>
  [labels, fields, where, changed].some((filter) => filter !== undefined);

/** Whether an object passes the selectors of a filter. */
export const isSelected = ({ labels, fields = {}, where }: Filter, object: Stored): boolean =>
  (labels === undefined || selects(labels, object.metadata.labels ?? {})) &&
  Object.entries(fields).every(([path, value]) => (valueAt(object, path) ?? "") === value) &&
  (where === undefined || where(object));

const valueAt = (object: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce(
      (value: unknown, name) =>
        typeof value === "object" && value !== null
          ? ownValue(value as Readonly<Record<string, unknown>>, name)
          : undefined,
      object,
    );

/**
 * The digest of the watched part of an object. Throws a `TypeError` if `changed` returns a value that JSON cannot represent,
 * such as a promise: its changes would go unnoticed.
 */
export function projectionOf({ kind, changed }: Watch, object: Stored): string {
  // Without a projection, every version differs.
  if (changed === undefined) return object.metadata.resourceVersion;
  const value = changed(object);
  const isJson = !(value instanceof Promise || value instanceof Map || value instanceof Set);
  if (isJson && typeof value !== "function") return digestOf([value], 32);
  throw new TypeError(`changed of the watch of ${kindText(kind)} must return a JSON value`);
}

/** Identifies the selectors of a watch: other ones need a router that starts with all objects. */
export const selectorsText = ({ kind, labels, fields }: Watch): string =>
  `watch ${kindText(kind)} ${digestOf([labels, fields], 16)}`;

/**
 * Identifies the filters of a watch with their code, for comparison with a record. Values that the code captures from outside
 * do not count.
 */
export const declarationOf = ({ labels, fields, where, changed }: Filter): string =>
  digestOf([labels, fields, where?.toString(), changed?.toString()], 16);

/** A filtered watch, numbered among those of its kind. */
export interface FilteredWatch {
  readonly watch: Watch;
  readonly ordinal: number;
}

/** The filtered ones of these watches, numbered. */
export function filteredWatches(watches: readonly Watch[]): FilteredWatch[] {
  const filtered = watches.filter(isFiltered);
  return filtered.map((watch, at) => {
    const before = filtered.slice(0, at).filter(({ kind }) => kindText(kind) === kindText(watch.kind));
    return { watch, ordinal: before.length };
  });
}

/**
 * Checks the filters of watches. Throws a `TypeError` for a filter on a part of the object that is never on the bus, because it
 * would match nothing or never change.
 */
export function checkWatches(watches: readonly Watch[], allowedAnnotations: readonly string[]): void {
  for (const watch of watches) {
    const { kind, fields = {}, where, changed, perSecond } = watch;
    if (perSecond !== undefined && !(perSecond > 0))
      throw new TypeError(`perSecond of the watch of ${kindText(kind)} must be above 0, found ${perSecond}`);
    for (const path of Object.keys(fields)) checkPath(kind, path);
    const probe = publishedProbe(kind, allowedAnnotations);
    for (const read of [where, changed]) if (read) checkReads(() => read.call(watch, probe));
  }
}

/** An object of the kind does not exist yet, so other errors say nothing. */
function checkReads(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (error instanceof PublishedOnlyError) throw error;
  }
}

function checkPath(kind: Kind, path: string): void {
  const [first = ""] = path.split(".");
  if (["apiVersion", "kind", "metadata"].includes(first)) return;
  if (kind.publish === "metadata") throw new PublishedOnlyError(kind, path);
  const isPublished = (field: string) => path === field || path.startsWith(`${field}.`);
  if (kind.fields !== undefined && !kind.fields.some(isPublished)) throw new PublishedOnlyError(kind, path);
}
