/** A namespace that is being deleted takes everything in it along: nothing waits for anything there. */
import { Namespace } from "../../../bus/kube/kind.ts";
import type { Context } from "../../../bus/worker/function.ts";

/** Whether the reconciled object's namespace is going. */
export async function isNamespaceGoing({ live, key }: Pick<Context, "live" | "key">): Promise<boolean> {
  const found = await live.get(Namespace, key.namespace, "");
  return found === undefined || found.metadata.deletionTimestamp !== undefined;
}
