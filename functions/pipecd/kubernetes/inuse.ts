/** What is deleted and still needed stays, and says by whom. */
import type { Kind } from "../../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import type { Context, Result } from "../../../bus/worker/function.ts";
import { neededBy } from "./neededby.ts";

/** After it, users are looked for again: nobody may tell. Milliseconds. */
const againMillis = 60_000;

/** Keeps the object for as long as there are users: undefined when there are none. */
export async function keptFor<T extends KubeObject>(
  kind: Kind<T>,
  object: Stored<T>,
  users: readonly Stored[],
  ctx: Context,
): Promise<Result | undefined> {
  if (users.length === 0) return undefined;
  const message = neededBy(users);
  await ctx.status(kind, object, {}, [{ type: "Ready", status: "False", reason: "InUse", message }]);
  return { requeueAfter: againMillis };
}
