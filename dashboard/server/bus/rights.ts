/**
 * Access to the bus API, decided by RBAC. The resources exist only in roles: a SelfSubjectAccessReview with the user's token asks
 * the API server whether the user has the right.
 * https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access
 */
import { domain } from "denrei/kinds";
import type { OpenSession } from "../auth/sessions.ts";
import type { ApiServer } from "../kubernetes/apiserver.ts";
import { requestJson } from "../kubernetes/responses.ts";

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

/** How long a review is cached. Milliseconds. */
const cachedMillis = 5000;
const maxAnswers = 5000;
const askMillis = 10_000;

interface CachedReview {
  readonly until: number;
  readonly answer: Promise<boolean>;
}

/** Asks the API server, and caches its answers for a few seconds. */
export function accessReviews(apiServer: Pick<ApiServer, "request">): May {
  const known = new Map<string, CachedReview>();

  async function review(token: string, right: Right, namespace: string): Promise<boolean> {
    const resourceAttributes = { ...rights[right], group: domain, ...(namespace !== "" && { namespace }) };
    const { status } = await requestJson<{ status: { allowed: boolean } }>(apiServer, {
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes },
      }),
      token,
      signal: AbortSignal.timeout(askMillis),
    });
    return status.allowed;
  }

  return ({ id, session }, right, namespace = "") => {
    const key = JSON.stringify([id, right, namespace]);
    const now = performance.now();
    const found = known.get(key);
    if (found !== undefined && found.until > now) return found.answer;
    const answer = review(session.idToken, right, namespace);
    // Do not cache failures, such as a rejected token or an unavailable API server.
    answer.catch(() => known.delete(key));
    for (const [old, { until }] of known) if (until <= now || known.size >= maxAnswers) known.delete(old);
    known.set(key, { until: now + cachedMillis, answer });
    return answer;
  };
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
