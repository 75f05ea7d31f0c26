/** The screen that lists the objects of a kind. */
import type { KubeObject, Stored } from "denrei/kinds";
import type { ComponentChildren } from "preact";
import { useCallback } from "preact/hooks";
import { creating } from "../api/access.ts";
import type { Resource } from "../api/resource.ts";
import type { Watched } from "../api/watch.ts";
import { ActionLink } from "./actionbutton.tsx";
import { Head } from "./head.tsx";
import { namespace, useNamespaceInAddress } from "./namespace.tsx";
import { Searchable } from "./searchable.tsx";
import { Loaded } from "./states.tsx";
import { healthOf, type Tone } from "./status.tsx";
import { type Column, ObjectTable } from "./table.tsx";

/** The fixed texts of a list screen. */
export interface ListText {
  readonly title: string;
  /** Label of the create link. */
  readonly create: string;
  /** Heading of an empty list. */
  readonly none: string;
  /** Purpose of the kind, shown in an empty list. */
  readonly about: string;
  /** Label of the create link in an empty list. */
  readonly createFirst: string;
}

/** What a search field finds. */
export interface ListSearch<T extends KubeObject> {
  /** Plural of the kind: `Applications`. */
  readonly kinds: string;
  /** Texts to search besides namespace, name, and health. */
  readonly textsOf?: (object: Stored<T>) => readonly unknown[];
}

/** A title with a create link, and a table of the objects. `path` is the address of the list; objects are below it. */
export function ListScreen<T extends KubeObject>({
  path,
  resource,
  text: { title, create, none, about, createFirst },
  watched,
  columns,
  search,
  heading,
  children,
}: {
  path: string;
  resource: Resource<T>;
  text: ListText;
  watched: Watched<T>;
  columns: readonly Column<Stored<T>>[];
  search: ListSearch<T>;
  /** Heading of the list, if others follow. */
  heading?: string;
  /** Shown below the list. */
  children?: ComponentChildren;
}) {
  useNamespaceInAddress();
  const to = useCallback(
    ({ metadata }: Stored<T>) => `${path}/${metadata.namespace}/${metadata.name}`,
    [path],
  );
  const textOf = useCallback((object: Stored<T>) => searchText(object, search), [search]);
  const creation = { needs: creating(resource, namespace.value), to: `${path}/new` };
  const table = (objects: readonly Stored<T>[]) => (
    <ObjectTable objects={objects} to={to} columns={columns} />
  );
  const list = (
    <Loaded
      watched={watched}
      empty={
        <>
          <h2>{none}</h2>
          <p>{about}</p>
          <ActionLink {...creation}>{createFirst}</ActionLink>
        </>
      }
    >
      {(items) => (
        <Searchable items={items} text={textOf} tone={toneOf} what={search.kinds}>
          {table}
        </Searchable>
      )}
    </Loaded>
  );
  return (
    <>
      <Head title={title}>
        <ActionLink {...creation} class="button primary">
          {create}
        </ActionLink>
      </Head>
      {children === undefined ? (
        list
      ) : (
        <div class="stack">
          {heading !== undefined && <h2>{heading}</h2>}
          {list}
          {children}
        </div>
      )}
    </>
  );
}

/** The words of an object that a search finds. */
export function searchText<T extends KubeObject>(
  object: Stored<T>,
  { textsOf }: Pick<ListSearch<T>, "textsOf">,
): string {
  const { namespace, name } = object.metadata;
  return [namespace, name, healthOf(object)[1], ...(textsOf?.(object) ?? [])].join(" ");
}

/** The status by which objects are filtered. */
export const toneOf = (object: KubeObject): Tone => healthOf(object)[0];
