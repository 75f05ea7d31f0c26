/**
 * Who may see what of the bus: RBAC says so. The resources exist in roles alone; the API server is asked, with the token of
 * whoever wants to know, whether it would let them.
 * https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access
 */
import { domain } from "../../../bus/kube/domain.ts";
import type { OpenSession } from "../auth/sessions.ts";
import { ask } from "../kubernetes/answers.ts";
import type { ApiServer } from "../kubernetes/apiserver.ts";

/** What can be allowed. */
export const rights = {
  functions: { verb: "get", resource: "functions" },
  activity: { verb: "list", resource: "activity" },
  deadLetters: { verb: "list", resource: "deadletters" },
  replay: { verb: "create", resource: "deadletters", subresource: "replay" },
} as const;
export type Right = keyof typeof rights;

/** Somebody may not. */
export class ForbiddenError extends Error {
  override readonly name = "ForbiddenError";
}

/** Asks whether somebody may, in a namespace, or everywhere where it is undefined or empty. */
export type May = (session: OpenSession, right: Right, namespace: string | undefined) => Promise<boolean>;

/** An answer is believed for so long. Milliseconds. */
const believedMillis = 5000;
const maxAnswers = 5000;
const askMillis = 10_000;

interface Known {
  readonly until: number;
  readonly answer: Promise<boolean>;
}

/** Asks the API server. */
export function accessReviews(apiServer: Pick<ApiServer, "ask">): May {
  const known = new Map<string, Known>();

  async function review(token: string, right: Right, namespace: string): Promise<boolean> {
    const resourceAttributes = { ...rights[right], group: domain, ...(namespace !== "" && { namespace }) };
    const { status } = await ask<{ status: { allowed: boolean } }>(apiServer, {
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
    // A refused token or an API server that is away is no answer.
    answer.catch(() => known.delete(key));
    for (const [old, { until }] of known) if (until <= now || known.size >= maxAnswers) known.delete(old);
    known.set(key, { until: now + believedMillis, answer });
    return answer;
  };
}

/** Throws a {@link ForbiddenError} unless somebody may. */
export async function demand(
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
      ? `expected the right to ${what} in ${namespace}, found none. Ask whoever administers it for a role`
      : `expected the right to ${what} in the whole cluster, found none. Choose a namespace, or ask for a role`,
  );
}

/** Where somebody may see something: in the namespace they ask for, or everywhere. Throws a {@link ForbiddenError}. */
export async function placesOf(
  may: May,
  session: OpenSession,
  right: Right,
  namespace: string | undefined,
): Promise<readonly string[] | "every"> {
  await demand(may, session, right, namespace);
  return namespace ? [namespace] : "every";
}
