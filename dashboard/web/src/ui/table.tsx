/** Tables of rows, and of Kubernetes objects. */
import type { KubeObject, Stored } from "denrei/kinds";
import { Component, type ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Age } from "./age.tsx";
import { namespace } from "./namespace.tsx";
import {
  nextSort,
  parseSort,
  type Sort,
  type SortValue,
  sortKeyOf,
  sortRows,
  statusValue,
  timeValue,
} from "./sort.ts";
import { Health, healthOf } from "./status.tsx";
import { tableText as words } from "./text.ts";
import { useUrlState } from "./urlstate.ts";

/** A column: its name, its cell for a row, whether it holds numbers, and the values by which users can sort the rows. */
export type Column<Row> = readonly [
  name: string,
  cell: (row: Row) => ComponentChildren,
  is?: "text" | "number",
  sortBy?: (row: Row) => SortValue,
];

/** A table. Unchanged rows are not rendered again if `columns` stays the same array. */
export function Table<Row>({
  rows,
  keyOf,
  columns,
  caption,
  current,
  sortParameter = "sort",
}: {
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The first column is the row header. */
  columns: readonly Column<Row>[];
  /** For screen readers. */
  caption?: string;
  /** The selected row. */
  current?: Row | undefined;
  /** The query parameter that holds the order, if the screen has several tables. */
  sortParameter?: string;
}) {
  const [text, setSort] = useUrlState(sortParameter);
  const sort = parseSort(text);
  const sorted = useMemo(() => inOrder(rows, columns, parseSort(text)), [rows, columns, text]);
  const shown = useRowsInSteps(sorted.length, text);
  return (
    <div class="table">
      <table>
        {caption && <caption class="unseen">{caption}</caption>}
        <thead>
          <tr data-label={words.sortBy}>
            {columns.map((column) => (
              <HeaderCell key={column[0]} column={column} sort={sort} onSort={setSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, shown).map((row) => (
            <TableRow key={keyOf(row)} row={row} columns={columns} isCurrent={row === current} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** More than a screen shows. */
const firstRows = 100;

/**
 * How many rows are rendered: the first ones at once, and the others afterwards in growing steps, so that typing in a filter does not
 * wait for a thousand rows. Starts over when the order changes.
 */
function useRowsInSteps(count: number, order: string): number {
  const [stored, store] = useState({ limit: firstRows, order });
  const limit = stored.order === order ? stored.limit : firstRows;
  useEffect(() => {
    // A longer list grows from the length of a shorter one.
    const next = limit < count ? limit * 4 : Math.max(firstRows, count);
    if (next === limit && stored.order === order) return undefined;
    const timer = setTimeout(() => store({ limit: next, order }));
    return () => clearTimeout(timer);
  }, [count, limit, order, stored]);
  return limit;
}

function inOrder<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: Sort | undefined,
): readonly Row[] {
  const sortBy = columns.find(([name]) => sortKeyOf(name) === sort?.key)?.[3];
  return sort && sortBy ? sortRows(rows, sortBy, sort.direction) : rows;
}

function HeaderCell<Row>({
  column: [name, , is = "text", sortBy],
  sort,
  onSort,
}: {
  column: Column<Row>;
  sort: Sort | undefined;
  onSort: (sort: string | undefined) => void;
}) {
  if (sortBy === undefined)
    return (
      <th scope="col" class={is}>
        {name}
      </th>
    );
  const key = sortKeyOf(name);
  return (
    <th scope="col" class={is} aria-sort={sort?.key === key ? sort.direction : "none"}>
      <button type="button" class="sort" onClick={() => onSort(nextSort(sort, key))}>
        {name}
      </button>
    </th>
  );
}

interface RowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly isCurrent: boolean;
}

/** A row, rendered again only if it changed. Not `memo` of preact/compat, which also makes `onChange` fire for each key. */
class TableRow<Row> extends Component<RowProps<Row>> {
  override shouldComponentUpdate(next: RowProps<Row>): boolean {
    const { row, columns, isCurrent } = this.props;
    return next.row !== row || next.columns !== columns || next.isCurrent !== isCurrent;
  }

  override render({ row, columns: [first, ...others], isCurrent }: RowProps<Row>) {
    return (
      <tr aria-current={isCurrent || undefined}>
        {first && (
          <th scope="row" data-label={first[0]}>
            <span>{first[1](row)}</span>
          </th>
        )}
        {others.map(([name, cell, is = "text"]) => (
          <td key={name} class={is} data-label={name}>
            {cell(row)}
          </td>
        ))}
      </tr>
    );
  }
}

const uidOf = ({ metadata }: Stored): string => metadata.uid ?? "";

/** A table of objects. The first column is the name, with the namespace if all namespaces are shown. */
export function ObjectTable<T extends KubeObject>({
  objects,
  to,
  columns,
  sortParameter,
}: {
  objects: readonly Stored<T>[];
  /** The address of an object's screen. */
  to?: (object: Stored<T>) => string;
  columns: readonly Column<Stored<T>>[];
  /** See {@link Table}. */
  sortParameter?: string;
}) {
  const all = useMemo(
    (): readonly Column<Stored<T>>[] => [
      [words.name, nameTo(to), "text", ({ metadata }) => metadata.name],
      ...columns,
    ],
    [to, columns],
  );
  return (
    <Table
      rows={objects}
      keyOf={uidOf}
      columns={all}
      {...(sortParameter !== undefined && { sortParameter })}
    />
  );
}

const nameTo =
  <T extends KubeObject>(to: ((object: Stored<T>) => string) | undefined) =>
  (object: Stored<T>) => (
    <>
      {to ? <a href={to(object)}>{object.metadata.name}</a> : object.metadata.name}
      {namespace.value === "" && <span class="quiet small"> {object.metadata.namespace}</span>}
    </>
  );

/** The health of an object. */
export const healthColumn: Column<Stored> = [
  words.health,
  (object) => <Health of={object} />,
  "text",
  (object) => statusValue(healthOf(object)),
];

/** The age of an object. */
export const createdColumn: Column<Stored> = [
  words.created,
  ({ metadata }) => <Age of={metadata.creationTimestamp} />,
  "text",
  ({ metadata }) => timeValue(metadata.creationTimestamp),
];
