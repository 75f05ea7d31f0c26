/** Reads and changes rows, with the error messages of PipeCD v0.57.0. */
import type { Application, Piped } from "@denrei/functions/pipecd/api/generated/c/model_pb";
import { internal, invalidArgument, notFound, permissionDenied, RpcError } from "../status.ts";
import { StoreError } from "../table.ts";
import type { PlaneC } from "./plane.ts";

/** Accesses the datastore and maps its errors to RPC errors. `what` completes "Failed to …". */
export function stored<T>(what: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.reason === "not found") throw new RpcError(notFound, `Entity was not found to ${what}`);
    if (error.reason === "invalid") throw new RpcError(invalidArgument, `Invalid argument to ${what}`);
    throw new RpcError(internal, `Failed to ${what}`);
  }
}

/** A piped of any project. */
export const pipedOf = ({ store }: PlaneC, id: string): Piped =>
  fetched("Piped is not found", "Failed to get piped", () => store.pipeds.get(id));

/** An application of any project. */
export const applicationOf = ({ store }: PlaneC, id: string): Application =>
  fetched("Application is not found", "Failed to get application", () => store.applications.get(id));

/** Reads a row. `missing` is the message for a missing row, `failed` for a failed read. */
export function fetched<T>(missing: string, failed: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw error.reason === "not found" ? new RpcError(notFound, missing) : new RpcError(internal, failed);
  }
}

/** Throws unless the piped belongs to the project. The owner is cached for a day. */
export function requirePiped(plane: PlaneC, id: string, project: string): void {
  const known = plane.memory.projectOfPiped;
  if (known.get(id) === undefined) known.put(id, pipedOf(plane, id).projectId);
  if (known.get(id) !== project) {
    throw new RpcError(permissionDenied, "Requested piped doesn't belong to the project you logged in");
  }
}

/** Throws unless the application belongs to the project. The owner is cached for a day. */
export function requireApplication(plane: PlaneC, id: string, project: string): void {
  const known = plane.memory.projectOfApplication;
  if (known.get(id) === undefined) known.put(id, applicationOf(plane, id).projectId);
  if (known.get(id) !== project) {
    throw new RpcError(permissionDenied, "Requested application doesn't belong to the project you logged in");
  }
}

/** Removes what callers may not see. */
export function redacted(piped: Piped): Piped {
  for (const key of piped.keys) key.hash = "redacted";
  return piped;
}
