/** Page cursors: base64 of JSON with the sort key of the last row. */
import { binaryOrder } from "../ids.ts";
import { StoreError } from "../table.ts";

/** A row of a list sorted by update time. */
interface Updated {
  readonly id: string;
  readonly updatedAt: bigint;
}

/** The cursor of a page's last row. */
export const cursorOf = ({ id, updatedAt }: Updated): string =>
  Buffer.from(JSON.stringify({ Id: id, UpdatedAt: Number(updatedAt) })).toString("base64");

/** The rows after the cursor; all rows if it is empty. Throws `StoreError` if it is invalid. */
export function afterCursor<Row extends Updated>(rows: Row[], cursor: string): Row[] {
  if (cursor === "") return rows;
  const { Id, UpdatedAt } = parsed(cursor);
  if (typeof Id !== "string" || typeof UpdatedAt !== "number") throw new StoreError("failed");
  const last = { order: binaryOrder(Id), at: BigInt(UpdatedAt) };
  return rows.filter(
    ({ id, updatedAt }) => updatedAt < last.at || (updatedAt === last.at && binaryOrder(id) > last.order),
  );
}

function parsed(cursor: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(Buffer.from(cursor, "base64").toString());
  } catch {
    throw new StoreError("failed");
  }
}
