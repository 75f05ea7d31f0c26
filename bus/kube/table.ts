/** Objects in the form of `kubectl get`: the API server builds the table, and we align it. */
import { type KubeClient, resourcePath } from "./client.ts";
import type { Kind } from "./kind.ts";

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

/** The table of a kind in a namespace, as text; empty when there are no objects. */
export async function kubectlTable(client: KubeClient, kind: Kind, namespace: string): Promise<string> {
  const table = await client.request<Table>({
    method: "GET",
    path: resourcePath(kind, namespace),
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
  });
  if (table.rows.length === 0) return "";
  const shown = table.columnDefinitions.flatMap(({ priority }, at) => (priority === 0 ? [at] : []));
  const cells = (values: readonly unknown[]) => shown.map((at) => String(values[at] ?? ""));
  return aligned([
    cells(table.columnDefinitions.map(({ name }) => name.toUpperCase())),
    ...table.rows.map((row) => cells(row.cells)),
  ]);
}

/** Columns of text, three spaces apart, without trailing blanks. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("   ")
        .trimEnd(),
    )
    .join("\n");
}
