/** Delays the deletion of an object while others use it. */
import type { Kind } from "../../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import type { Context, Result } from "../../../bus/worker/function.ts";
import { neededBy } from "./neededby.ts";

/** Poll interval for users, whose deletion may not trigger a reconcile. Milliseconds. */
const pollMillis = 60_000;

/** Reports the users in the condition Ready, and returns when to check again; undefined without users. */
export async function waitForUsers<T extends KubeObject>(
  kind: Kind<T>,
  object: Stored<T>,
  users: readonly Stored[],
  ctx: Context,
): Promise<Result | undefined> {
  if (users.length === 0) return undefined;
  const message = neededBy(users);
  await ctx.status(kind, object, {}, [{ type: "Ready", status: "False", reason: "InUse", message }]);
  return { requeueAfter: pollMillis };
}
