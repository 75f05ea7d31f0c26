/** Objects in rows, each with a link to its screen. */
import type { ComponentChildren } from "preact";
import type { KubeObject, Stored } from "../../../../bus/kube/object.ts";
import { namespace } from "./namespace.tsx";

/** A column: its name, and what is in it. */
export type Column<T extends KubeObject> = readonly [
  name: string,
  cell: (object: Stored<T>) => ComponentChildren,
];

/** A table of objects. The first column is the name, with the namespace where all of them are looked at. */
export function ObjectTable<T extends KubeObject>({
  objects,
  to,
  columns,
}: {
  objects: readonly Stored<T>[];
  /** The address of an object's screen; without it there is none. */
  to?: (object: Stored<T>) => string;
  columns: readonly Column<T>[];
}) {
  return (
    <div class="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            {columns.map(([name]) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {objects.map((object) => (
            <tr key={object.metadata.uid}>
              <th scope="row" data-label="Name">
                <span>
                  {to ? <a href={to(object)}>{object.metadata.name}</a> : object.metadata.name}
                  {namespace.value === "" && <span class="quiet small"> {object.metadata.namespace}</span>}
                </span>
              </th>
              {columns.map(([name, cell]) => (
                <td key={name} data-label={name}>
                  {cell(object)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
