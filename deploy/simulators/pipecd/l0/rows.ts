/** Reading and changing rows, with the words in which PipeCD v0.9.0 tells of failures. */
import type { Application, Piped } from "../../../../functions/pipecd/api/generated/l0/model_pb.ts";
import { internal, notFound, permissionDenied, RpcError } from "../status.ts";
import { StoreError } from "../table.ts";
import type { TtlCache } from "../ttlcache.ts";
import type { PlaneL0 } from "./plane.ts";

/** Does something with the datastore; `failure` is what the caller is told when that fails. */
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

/** A piped, whoever's it is. */
export const pipedOf = ({ store }: PlaneL0, id: string): Piped =>
  stored("Failed to get piped", () => store.pipeds.get(id), "Piped is not found");

/** An application, whoever's it is. */
export const applicationOf = ({ store }: PlaneL0, id: string): Application =>
  stored("Failed to get application", () => store.applications.get(id), "The application is not found");

/** Ends the call unless the piped is the project's. */
export function demandPiped(plane: PlaneL0, id: string, project: string): void {
  demand("piped", plane.memory.projectOfPiped, id, project, () => pipedOf(plane, id));
}

/** Ends the call unless the application is the project's. */
export function demandApplication(plane: PlaneL0, id: string, project: string): void {
  demand("application", plane.memory.projectOfApplication, id, project, () => applicationOf(plane, id));
}

function demand(
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
