/**
 * The Kubernetes username, which can differ from the issuer's subject: the API server may be configured to use another claim.
 * https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/self-subject-review-v1/
 */

import type { ApiServer } from "../kubernetes/apiserver.ts";
import { requestJson } from "../kubernetes/responses.ts";

interface SelfSubjectReview {
  readonly status?: { readonly userInfo?: { readonly username?: string } };
}

/** A slow API server delays a login by this much at most. Milliseconds. */
const timeoutMillis = 5000;

/** The username for a token; undefined if the API server does not report it. */
export async function kubernetesUsername(
  apiServer: Pick<ApiServer, "request">,
  token: string,
): Promise<string | undefined> {
  const apiVersion = "authentication.k8s.io/v1";
  try {
    const { status } = await requestJson<SelfSubjectReview>(apiServer, {
      method: "POST",
      path: `/apis/${apiVersion}/selfsubjectreviews`,
      token,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ apiVersion, kind: "SelfSubjectReview" }),
      signal: AbortSignal.timeout(timeoutMillis),
    });
    return status?.userInfo?.username;
  } catch {
    // The user's next requests will report the error.
    return undefined;
  }
}
