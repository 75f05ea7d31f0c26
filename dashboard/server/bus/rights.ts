/**
 * Access to the bus API, decided by RBAC. The resources exist only in roles: an access review asks the API server whether the user
 * has the right.
 */
import { domain } from "denrei/kinds";
import type { OpenSession } from "../auth/sessions.ts";
import { accessReviews } from "../kubernetes/accessreviews.ts";
import type { ApiServer } from "../kubernetes/apiserver.ts";

/** The rights, as verbs on resources. */
export const rights = {
  functions: { verb: "get", resource: "functions" },
  activity: { verb: "list", resource: "activity" },
  deadLetters: { verb: "list", resource: "deadletters" },
  replay: { verb: "create", resource: "deadletters", subresource: "replay" },
} as const;
export type Right = keyof typeof rights;

/** The user lacks a right. */
export class ForbiddenError extends Error {
  override readonly name = "ForbiddenError";
}

/** Returns whether the user has a right in the namespace, or cluster-wide if it is undefined or empty. */
export type May = (session: OpenSession, right: Right, namespace: string | undefined) => Promise<boolean>;

/** Reviews rights on the bus. */
export function busReviews(apiServer: Pick<ApiServer, "request">): May {
  const may = accessReviews(apiServer);
  return (session, right, namespace) => may(session, { ...rights[right], group: domain, namespace });
}

/** Throws a {@link ForbiddenError} unless the user has the right. */
export async function requireRight(
  may: May,
  session: OpenSession,
  right: Right,
  namespace: string | undefined,
): Promise<void> {
  if (await may(session, right, namespace)) return;
  const { verb, resource } = rights[right];
  const what = `${verb} ${resource}${right === "replay" ? "/replay" : ""}.${domain}`;
  throw new ForbiddenError(
    namespace
      ? `You lack the right to ${what} in the namespace ${namespace}. Ask an administrator for a role.`
      : `You lack the right to ${what} in the whole cluster. Choose a namespace, or ask an administrator for a role.`,
  );
}

/** The namespaces to show: the requested one, or all if none is requested. Throws a {@link ForbiddenError}. */
export async function visibleNamespaces(
  may: May,
  session: OpenSession,
  right: Right,
  namespace: string | undefined,
): Promise<readonly string[] | "every"> {
  await requireRight(may, session, right, namespace);
  return namespace ? [namespace] : "every";
}
