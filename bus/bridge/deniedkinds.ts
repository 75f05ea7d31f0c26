/** Errors for kinds that the bridge has no permission to watch, in an opted-in namespace or as a listed kind. The bridge stays ready. */
import { adviceFor, type Denial, isOnSecrets } from "../kube/denial.ts";
import { optedInRole } from "../kube/domain.ts";
import { isForbidden } from "../kube/errors.ts";
import { type Kind, kindText } from "../kube/kind.ts";
import { userOf } from "../nats/identity.ts";

/** The bridge may not watch a kind. The message names the missing role and the command that grants it. */
export class WatchRefusedError extends Error {
  override readonly name = "WatchRefusedError";
}

/** Says how to grant what the bridge lacks: its role follows from the declarations of all functions. */
export const bridgeAdvice = (denial: Denial): string =>
  denial.cause === "action" && denial.action !== undefined && !isOnSecrets(denial.action)
    ? ". The role of the bridge lacks this rule. Apply it: `npx denrei rbac bridge | kubectl apply -f -`"
    : adviceFor(denial);

/** The kind and namespace of a watch. */
export interface Watched {
  readonly kind: Kind;
  readonly namespace?: string | undefined;
  /** For a kind that the installation lists: the command that prints its roles. */
  readonly rightsCommand?: string | undefined;
}

/**
 * Wraps a 403 for an opted-in namespace or a listed kind in a {@link WatchRefusedError}. Returns other errors
 * unchanged.
 */
export function watchErrorOf(error: Error, { kind, namespace, rightsCommand }: Watched): Error {
  if (!isForbidden(error)) return error;
  if (rightsCommand !== undefined)
    return new WatchRefusedError(
      `the bridge may not watch ${kindText(kind)}, which this installation lists: apply its role, ` +
        `\`${rightsCommand} | kubectl apply -f -\``,
      { cause: error },
    );
  if (kind.reach !== "opted-in" || namespace === undefined) return error;
  const role = optedInRole(userOf("bridge"));
  // The namespace has the label already. Only the bindings are missing.
  const command = `denrei opt-in ${namespace} | kubectl apply -f -`;
  return new WatchRefusedError(
    `the bridge may not watch ${kindText(kind)} in ${namespace}: expected the RoleBinding ${role} there, ` +
      `which is made by \`${command}\``,
    { cause: error },
  );
}
