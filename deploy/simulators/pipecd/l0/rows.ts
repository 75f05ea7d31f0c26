/** Reads and changes rows, with the error messages of PipeCD v0.9.0. */
import type { Application, Piped } from "@denrei/functions/pipecd/api/generated/l0/model_pb";
import { internal, notFound, permissionDenied, RpcError } from "../status.ts";
import { StoreError } from "../table.ts";
import type { TtlCache } from "../ttlcache.ts";
import type { PlaneL0 } from "./plane.ts";

/** Accesses the datastore. `failure` is the error message for the caller. */
export function stored<T>(failure: string, act: () => T, missing = failure): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw error.reason === "not found" && missing !== failure
      ? new RpcError(notFound, missing)
      : new RpcError(internal, failure);
  }
}

/** A piped of any project. */
export const pipedOf = ({ store }: PlaneL0, id: string): Piped =>
  stored("Failed to get piped", () => store.pipeds.get(id), "Piped is not found");

/** An application of any project. */
export const applicationOf = ({ store }: PlaneL0, id: string): Application =>
  stored("Failed to get application", () => store.applications.get(id), "The application is not found");

/** Throws unless the piped belongs to the project. */
export function requirePiped(plane: PlaneL0, id: string, project: string): void {
  requireProject("piped", plane.memory.projectOfPiped, id, project, () => pipedOf(plane, id));
}

/** Throws unless the application belongs to the project. */
export function requireApplication(plane: PlaneL0, id: string, project: string): void {
  requireProject("application", plane.memory.projectOfApplication, id, project, () =>
    applicationOf(plane, id),
  );
}

function requireProject(
  what: "piped" | "application",
  known: TtlCache<string>,
  id: string,
  project: string,
  read: () => { readonly projectId: string },
): void {
  if (known.get(id) === undefined) known.put(id, read().projectId);
  if (known.get(id) !== project) {
    throw new RpcError(permissionDenied, `Requested ${what} doesn't belong to the project you logged in`);
  }
}
