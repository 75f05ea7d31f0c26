/** A namespace that was opted in, where the bridge has no rights: somebody has set the label, and nothing else. */
import { optedInRole } from "../domain.ts";
import { userOf } from "../identity.ts";
import { isForbidden } from "../kube/errors.ts";
import { type Kind, kindText } from "../kube/kind.ts";

/** The bridge may not watch a kind in an opted-in namespace. Says which RoleBinding is missing, and how to make it. */
export class NamespaceRefusedError extends Error {
  override readonly name = "NamespaceRefusedError";
}

/** What is wrong, if it is that a namespace was opted in and the bridge is refused there; other errors as they are. */
export function refusalOf(error: Error, kind: Kind, namespace: string | undefined): Error {
  if (kind.reach !== "opted-in" || namespace === undefined || !isForbidden(error)) return error;
  const role = optedInRole(userOf("bridge"));
  // The label is there: of what opts in, only the bindings are missing.
  const command = `denrei opt-in ${namespace} | kubectl apply -f -`;
  return new NamespaceRefusedError(
    `the bridge may not watch ${kindText(kind)} in ${namespace}: expected the RoleBinding ${role} there, ` +
      `which is made by \`${command}\``,
    { cause: error },
  );
}
