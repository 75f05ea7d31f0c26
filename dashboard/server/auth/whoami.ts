/**
 * Who somebody is to Kubernetes: the issuer may call them by a number, and the API server by what it makes of another claim.
 * https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/self-subject-review-v1/
 */
import { ask } from "../kubernetes/answers.ts";
import type { ApiServer } from "../kubernetes/apiserver.ts";

interface SelfSubjectReview {
  readonly status?: { readonly userInfo?: { readonly username?: string } };
}

/** An API server that takes longer keeps nobody from logging in. Milliseconds. */
const patienceMillis = 5000;

/** The name of the token's user; undefined when the API server does not say it. */
export async function nameInKubernetes(
  apiServer: Pick<ApiServer, "ask">,
  token: string,
): Promise<string | undefined> {
  const apiVersion = "authentication.k8s.io/v1";
  try {
    const { status } = await ask<SelfSubjectReview>(apiServer, {
      method: "POST",
      path: `/apis/${apiVersion}/selfsubjectreviews`,
      token,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ apiVersion, kind: "SelfSubjectReview" }),
      signal: AbortSignal.timeout(patienceMillis),
    });
    return status?.userInfo?.username;
  } catch {
    // Each of their requests will say what is wrong.
    return undefined;
  }
}
