/** The last known lists, so that a screen can show what an earlier screen loaded. In memory: a login or logout forgets them. */
import type { KubeObject, Stored } from "denrei/kinds";
import { pathOf, type Resource, type Scope } from "./resource.ts";

/** A list, and when it was last current. */
export interface KnownList {
  readonly items: readonly Stored[];
  /** Milliseconds since 1970. */
  readonly asOf: number;
}

/** A list that may still change. */
export interface ListSource {
  /** Undefined if no list was received yet, or if the user may no longer see it. */
  known(): KnownList | undefined;
}

/** More lists than a user visits in a row. */
const maxLists = 40;

const sources = new Map<string, ListSource>();

/** Keeps a list under its path. */
export function rememberList(path: string, source: ListSource): void {
  sources.delete(path);
  sources.set(path, source);
  for (const oldest of sources.keys()) {
    if (sources.size <= maxLists) return;
    sources.delete(oldest);
  }
}

/** UIDs of objects that some list has seen deleted: a list that is no longer updated may still have them. */
const deleted = new Set<string>();
const maxDeleted = 1000;

/** Removes a deleted object from all lists. */
export function forgetObject({ metadata: { uid = "" } }: KubeObject): void {
  deleted.add(uid);
  for (const oldest of deleted) {
    if (deleted.size <= maxDeleted) return;
    deleted.delete(oldest);
  }
}

function knownAt(resource: Resource, scope: Scope): KnownList | undefined {
  const known = sources.get(pathOf(resource, scope))?.known();
  if (known === undefined) return undefined;
  return { ...known, items: known.items.filter(({ metadata }) => !deleted.has(metadata.uid ?? "")) };
}

/** The last known list. A selection of one object by name is also found in the lists of its kind. */
export function lastKnownList(resource: Resource, scope: Scope = {}): KnownList | undefined {
  const known = knownAt(resource, scope);
  const name = /^metadata\.name=([^,]+)$/.exec(scope.fieldSelector ?? "")?.[1];
  if (known !== undefined || name === undefined) return known;
  const { namespace } = scope;
  const isSelected = ({ metadata }: KubeObject) =>
    metadata.name === name && (namespace === undefined || metadata.namespace === namespace);
  for (const wider of [{ namespace }, {}]) {
    const list = knownAt(resource, wider);
    const items = list?.items.filter(isSelected) ?? [];
    if (list !== undefined && items.length > 0) return { items, asOf: list.asOf };
  }
  return undefined;
}
