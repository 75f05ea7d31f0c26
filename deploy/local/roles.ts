/** Roles on the bus besides the administrator. */
import { busRoles, type Role } from "../../bus/permissions.ts";
import { interestsOf } from "../../bus/worker/function.ts";

/**
 * The roles of the shipped functions in a cluster. The call loads all functions, so a platform for developing functions must not
 * use it.
 */
export async function shippedRoles(cluster = "default"): Promise<Role[]> {
  const { functions } = await import("../../functions/index.ts");
  return busRoles(interestsOf(functions, cluster), cluster);
}
