/** Tables of a datastore with simulated outages. */
import { clone, type DescMessage, type MessageShape } from "@bufbuild/protobuf";

/** A datastore error, by the reason that servers return to callers. */
export class StoreError extends Error {
  readonly reason: "not found" | "invalid" | "failed";

  constructor(reason: "not found" | "invalid" | "failed") {
    super(`datastore error: ${reason}`);
    this.reason = reason;
  }
}

/** Rows by id. Reads return copies. All methods throw {@link StoreError}. */
export interface Table<Row> {
  get(id: string): Row;
  add(row: Row): void;
  /** Stores nothing if `change` throws. */
  update(id: string, change: (row: Row) => void): void;
  /** Matching rows in the table's order. */
  find(where: (row: Row) => boolean): Row[];
  /** All rows, also during an outage. */
  dump(): Row[];
}

/** Storage rules of a table. */
export interface TableRules<Row> {
  /** The key of an id; undefined if no row can have the id. */
  readonly keyOf: (id: string) => string | undefined;
  /** Whether the row may be stored. */
  readonly fits: (row: Row) => boolean;
  readonly order?: (a: Row, b: Row) => number;
  readonly isDown: () => boolean;
  /** Whether a concurrent writer overwrites the change of a row. */
  readonly isOverwritten: () => boolean;
}

type RowOf<Desc extends DescMessage> = MessageShape<Desc> & { readonly id: string };

/** An empty table. */
export function openTable<Desc extends DescMessage>(
  schema: Desc,
  { keyOf, fits, order, isDown, isOverwritten }: TableRules<RowOf<Desc>>,
): Table<RowOf<Desc>> {
  const rows = new Map<string, RowOf<Desc>>();
  const copy = (row: RowOf<Desc>) => clone(schema, row) as RowOf<Desc>;

  function requireUp(): void {
    if (isDown()) throw new StoreError("failed");
  }

  function put(row: RowOf<Desc>): void {
    const key = keyOf(row.id);
    if (key === undefined || !fits(row)) throw new StoreError("failed");
    rows.set(key, copy(row));
  }

  function get(id: string): RowOf<Desc> {
    requireUp();
    const key = keyOf(id);
    const row = key === undefined ? undefined : rows.get(key);
    if (row === undefined) throw new StoreError("not found");
    return copy(row);
  }

  const all = () => (order === undefined ? [...rows.values()] : [...rows.values()].sort(order)).map(copy);

  return {
    get,
    add(row) {
      requireUp();
      put(row);
    },
    update(id, change) {
      const row = get(id);
      change(row);
      if (!isOverwritten()) put(row);
    },
    find(where) {
      requireUp();
      return all().filter(where);
    },
    dump: all,
  };
}
