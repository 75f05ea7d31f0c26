/** Who has to do with the bus, beside whoever started it. */
import { busRoles, type Role } from "../../bus/permissions.ts";
import { interestsOf } from "../../bus/worker/function.ts";

/**
 * The roles of the functions that the platform ships with; the cluster is the one that processes call theirs by default. The
 * functions are loaded for it: whoever is to work on them starts a platform that has no such roles.
 */
export async function shippedRoles(cluster = "default"): Promise<Role[]> {
  const { functions } = await import("../../functions/index.ts");
  return busRoles(interestsOf(functions, cluster), cluster);
}
