/** Shared by finalizers: detects a terminating namespace, and delays a deletion while other objects use the object. */
import { type Context, type Kind, type KubeObject, Namespace, type Result, type Stored } from "denrei";
import { minute } from "../intervals.ts";
import { neededBy } from "./usersmessage.ts";

/** Poll interval for users, whose deletion may not trigger a reconcile. Milliseconds. */
const pollMillis = minute;

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

/**
 * Whether the reconciled object's namespace is deleted or being deleted. All of its objects are deleted with it, so finalizers
 * do not wait.
 */
export async function isNamespaceTerminating({ live, key }: Pick<Context, "live" | "key">): Promise<boolean> {
  const found = await live.get(Namespace, key.namespace);
  return found === undefined || found.metadata.deletionTimestamp !== undefined;
}
