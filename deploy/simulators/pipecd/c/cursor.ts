/** Where a page ends: base64 of JSON, with what the list is sorted by. */
import { binaryOrder } from "../ids.ts";
import { StoreError } from "../table.ts";

/** A row of a list that is sorted by when rows were updated. */
interface Updated {
  readonly id: string;
  readonly updatedAt: bigint;
}

/** Of the last row of a page. */
export const cursorOf = ({ id, updatedAt }: Updated): string =>
  Buffer.from(JSON.stringify({ Id: id, UpdatedAt: Number(updatedAt) })).toString("base64");

/** What comes behind the cursor; everything when it is empty. Throws `StoreError` when it is none. */
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
