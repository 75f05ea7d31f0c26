/**
 * What the user may do, as the API server says: SelfSubjectAccessReviews with the user's token.
 * https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access
 */
import type { ApiServer } from "./apiserver.ts";
import { requestJson } from "./responses.ts";

/** An action, as RBAC names it. */
export interface ReviewedAction {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  /** All namespaces if undefined or empty. */
  readonly namespace?: string | undefined;
}

/** The part of a session that a review needs. */
export interface Reviewed {
  readonly id: string;
  readonly session: { readonly idToken: string };
}

/** Returns whether the user may do it. */
export type Review = (of: Reviewed, action: ReviewedAction) => Promise<boolean>;

/** How long a review is cached. Milliseconds. */
const cachedMillis = 5000;
const maxAnswers = 5000;
const askMillis = 10_000;

interface CachedReview {
  readonly until: number;
  readonly answer: Promise<boolean>;
}

/** Asks the API server, and caches its answers for a few seconds. */
export function accessReviews(apiServer: Pick<ApiServer, "request">): Review {
  const known = new Map<string, CachedReview>();

  async function ask(token: string, { namespace, ...action }: ReviewedAction): Promise<boolean> {
    const resourceAttributes = { ...action, ...(namespace && { namespace }) };
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

  return ({ id, session }, action) => {
    const { verb, group, resource, subresource = "", namespace = "" } = action;
    const key = JSON.stringify([id, verb, group, resource, subresource, namespace]);
    const now = performance.now();
    const found = known.get(key);
    if (found !== undefined && found.until > now) return found.answer;
    const answer = ask(session.idToken, action);
    // Do not cache failures, such as a rejected token or an unavailable API server.
    answer.catch(() => known.delete(key));
    for (const [old, { until }] of known) if (until <= now || known.size >= maxAnswers) known.delete(old);
    known.set(key, { until: now + cachedMillis, answer });
    return answer;
  };
}
