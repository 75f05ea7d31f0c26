/** Detects a namespace that is being deleted. All of its objects are deleted with it, so finalizers do not wait for each other. */
import { Namespace } from "../../../bus/kube/kind.ts";
import type { Context } from "../../../bus/worker/function.ts";

/** Whether the reconciled object's namespace is deleted or being deleted. */
export async function isNamespaceTerminating({ live, key }: Pick<Context, "live" | "key">): Promise<boolean> {
  const found = await live.get(Namespace, key.namespace, "");
  return found === undefined || found.metadata.deletionTimestamp !== undefined;
}
