/** Tables of rows, and of Kubernetes objects. */
import type { KubeObject, Stored } from "denrei/kinds";
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useMemo } from "preact/hooks";
import { Age } from "./age.tsx";
import { namespace } from "./namespace.tsx";
import { Health } from "./status.tsx";

/** A column: its name, its cell for a row, and whether it holds numbers. */
export type Column<Row> = readonly [name: string, cell: (row: Row) => ComponentChildren, is?: "number"];

/** A table. Unchanged rows are not rendered again if `columns` stays the same array. */
export function Table<Row>({
  rows,
  keyOf,
  columns,
  caption,
  current,
}: {
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The first column is the row header. */
  columns: readonly Column<Row>[];
  /** For screen readers. */
  caption?: string;
  /** The selected row. */
  current?: Row | undefined;
}) {
  return (
    <div class="table">
      <table>
        {caption && <caption class="unseen">{caption}</caption>}
        <thead>
          <tr>
            {columns.map(([name, , is]) => (
              <th key={name} scope="col" class={is}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <MemoRow key={keyOf(row)} row={row} columns={columns} isCurrent={row === current} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function TableRow<Row>({
  row,
  columns: [first, ...others],
  isCurrent,
}: {
  row: Row;
  columns: readonly Column<Row>[];
  isCurrent: boolean;
}) {
  return (
    <tr aria-current={isCurrent || undefined}>
      {first && (
        <th scope="row" data-label={first[0]}>
          <span>{first[1](row)}</span>
        </th>
      )}
      {others.map(([name, cell, is]) => (
        <td key={name} class={is} data-label={name}>
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}

const MemoRow = memo(TableRow) as typeof TableRow;

const uidOf = ({ metadata }: Stored): string => metadata.uid ?? "";

/** A table of objects. The first column is the name, with the namespace if all namespaces are shown. */
export function ObjectTable<T extends KubeObject>({
  objects,
  to,
  columns,
}: {
  objects: readonly Stored<T>[];
  /** The address of an object's screen. */
  to?: (object: Stored<T>) => string;
  columns: readonly Column<Stored<T>>[];
}) {
  const all = useMemo((): readonly Column<Stored<T>>[] => [["Name", nameTo(to)], ...columns], [to, columns]);
  return <Table rows={objects} keyOf={uidOf} columns={all} />;
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
export const healthColumn: Column<Stored> = ["Health", (object) => <Health of={object} />];

/** The age of an object. */
export const createdColumn: Column<Stored> = [
  "Created",
  ({ metadata }) => <Age of={metadata.creationTimestamp} />,
];
