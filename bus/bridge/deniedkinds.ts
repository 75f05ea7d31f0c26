/** Kinds that the bridge is asked to watch without the rights: an opted-in namespace or a listed kind. It stays ready. */
import { optedInRole } from "../kube/domain.ts";
import { isForbidden } from "../kube/errors.ts";
import { type Kind, kindText } from "../kube/kind.ts";
import { userOf } from "../nats/identity.ts";

/** The bridge may not watch a kind. Says which role is missing, and how to grant it. */
export class WatchRefusedError extends Error {
  override readonly name = "WatchRefusedError";
}

/** What is watched. */
export interface Watched {
  readonly kind: Kind;
  readonly namespace?: string | undefined;
  /** Of a kind that the installation lists: the command that prints its roles. */
  readonly rightsCommand?: string | undefined;
}

/**
 * Explains an error if a namespace was opted in, or a kind listed, without the rights of the bridge. Other errors are returned
 * unchanged.
 */
export function refusalOf(error: Error, { kind, namespace, rightsCommand }: Watched): Error {
  if (!isForbidden(error)) return error;
  if (rightsCommand !== undefined)
    return new WatchRefusedError(
      `the bridge may not watch ${kindText(kind)}, which this installation lists: apply its role, ` +
        `\`${rightsCommand} | kubectl apply -f -\``,
      { cause: error },
    );
  if (kind.reach !== "opted-in" || namespace === undefined) return error;
  const role = optedInRole(userOf("bridge"));
  // The label is there: of what opts in, only the bindings are missing.
  const command = `denrei opt-in ${namespace} | kubectl apply -f -`;
  return new WatchRefusedError(
    `the bridge may not watch ${kindText(kind)} in ${namespace}: expected the RoleBinding ${role} there, ` +
      `which is made by \`${command}\``,
    { cause: error },
  );
}
