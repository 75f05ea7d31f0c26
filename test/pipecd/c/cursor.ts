/** Where a page of applications ends: base64 of JSON, with what the list is sorted by. */
import type { Application } from "../../../functions/pipecd/api/generated/c/model_pb.ts";
import { binaryOrder } from "../ids.ts";
import { StoreError } from "../table.ts";

/** Of the last application of a page. */
export const cursorOf = ({ id, updatedAt }: Application): string =>
  Buffer.from(JSON.stringify({ Id: id, UpdatedAt: Number(updatedAt) })).toString("base64");

/** What comes behind the cursor; everything when it is empty. Throws `StoreError` when it is none. */
export function afterCursor(applications: Application[], cursor: string): Application[] {
  if (cursor === "") return applications;
  const { Id, UpdatedAt } = parsed(cursor);
  if (typeof Id !== "string" || typeof UpdatedAt !== "number") throw new StoreError("failed");
  const last = { order: binaryOrder(Id), at: BigInt(UpdatedAt) };
  return applications.filter(
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
