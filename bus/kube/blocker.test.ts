import { describe, expect, test } from "vitest";
import { blockerOf, refusalReasonOf } from "./blocker.ts";
import { ApiError, ApiUnreachableError } from "./errors.ts";

const answer = (status: number, message: string, reason = "InternalError"): ApiError =>
  new ApiError("POST /api/v1/namespaces/n/configmaps", status, { message, reason });

describe("the cause of a blocked request", () => {
  test.each<readonly [string, Error, string]>([
    [
      "a webhook that cannot be called",
      answer(500, 'Internal error occurred: failed calling webhook "check.policy.io": connection refused'),
      "AdmissionWebhookUnavailable",
    ],
    [
      "a webhook that denies",
      answer(403, 'admission webhook "check.policy.io" denied the request: no', "Forbidden"),
      "AdmissionDenied",
    ],
    [
      "a policy that denies",
      answer(422, "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no", "Invalid"),
      "AdmissionDenied",
    ],
    [
      "a policy that cannot be configured",
      answer(
        422,
        "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: no such kind",
        "Invalid",
      ),
      "AdmissionDenied",
    ],
    [
      "a binding that cannot be configured",
      answer(
        422,
        "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed to configure binding: no params found",
        "Invalid",
      ),
      "AdmissionDenied",
    ],
    [
      "a mutating policy that fails",
      answer(403, "policy 'p' with binding 'b' denied request: invalid ApplyConfiguration", "Invalid"),
      "AdmissionDenied",
    ],
    [
      "a mutating policy that cannot be configured",
      answer(403, 'policy "p" denied request: failed to configure policy: no such kind', "Forbidden"),
      "AdmissionDenied",
    ],
    [
      "a webhook that denies as one that is busy",
      answer(429, 'admission webhook "check.policy.io" denied the request: slow down', "TooManyRequests"),
      "AdmissionDenied",
    ],
    [
      "a webhook that denies as one that is away",
      answer(503, 'admission webhook "check.policy.io" denied the request: starting', "ServiceUnavailable"),
      "AdmissionDenied",
    ],
    [
      "an API server that starts",
      answer(403, 'configmaps "a" is forbidden: not yet ready to handle request', "Forbidden"),
      "ApiServerUnavailable",
    ],
    [
      "admission that cannot read the limits",
      answer(
        403,
        'pods "a" is forbidden: unable to CREATE pods at this time because there was an error enforcing limit ranges',
        "Forbidden",
      ),
      "ApiServerUnavailable",
    ],
    [
      "an aggregated API that is away",
      answer(503, "service unavailable", "ServiceUnavailable"),
      "ApiServerUnavailable",
    ],
    [
      "a kind that is being deleted",
      answer(405, 'create is not supported on resources of kind "a.b"', "MethodNotAllowed"),
      "KindNotInstalled",
    ],
    [
      "a kind that is being deleted, where an apply would create",
      answer(
        403,
        'a.b "c" is forbidden: create not allowed while custom resource definition is terminating',
        "Forbidden",
      ),
      "KindNotInstalled",
    ],
    [
      "a conversion webhook",
      answer(500, "conversion webhook for denrei.dev/v1, Kind=Hikawa failed: Post: refused"),
      "ConversionWebhookUnavailable",
    ],
    [
      "a quota",
      answer(403, 'pods "a" is forbidden: exceeded quota: compute, requested: pods=1', "Forbidden"),
      "QuotaExceeded",
    ],
    ["a namespace that is gone", answer(404, 'namespaces "n" not found', "NotFound"), "NamespaceMissing"],
    [
      "a kind that is not installed",
      answer(404, "the server could not find the requested resource", "NotFound"),
      "KindNotInstalled",
    ],
    ["a right that is missing", answer(403, "configmaps is forbidden", "Forbidden"), "Forbidden"],
    ["etcd", answer(500, "etcdserver: request timed out"), "ApiServerError"],
    ["etcd without leader", answer(500, "etcdserver: no leader"), "ApiServerError"],
    ["priority and fairness", answer(429, "too many requests", "TooManyRequests"), "ApiServerUnavailable"],
    ["no answer", new ApiUnreachableError("ECONNREFUSED"), "ApiServerUnavailable"],
    [
      "the cause of another error",
      new Error("could not apply", { cause: answer(500, "etcdserver: no leader") }),
      "ApiServerError",
    ],
  ])("is named: %s", (_, error, reason) => {
    expect(blockerOf(error)?.reason).toBe(reason);
  });

  test.each([
    [
      "p",
      "ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: no",
      "cannot be evaluated",
    ],
    ["p", "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no", "denies the request"],
    ["p", "policy 'p' with binding 'b' denied request: no", "cannot be evaluated"],
    ["p", 'policy "p" denied request: no', "cannot be evaluated"],
  ])("names the policy %s: %s", (name, message, what) => {
    expect(blockerOf(answer(422, message))?.message).toContain(`AdmissionPolicy ${name} ${what}: `);
  });

  test("a busy webhook is not a rejection: a retry may be enough", () => {
    const denied = (status: number) => answer(status, 'admission webhook "check" denied the request: no');
    expect([400, 403, 422, 429, 503].map((status) => refusalReasonOf(denied(status)))).toEqual([
      "AdmissionDenied",
      "AdmissionDenied",
      "AdmissionDenied",
      undefined,
      undefined,
    ]);
  });

  test.each<readonly [string, Error]>([
    ["an invalid field", answer(422, "spec.a: Invalid value", "Invalid")],
    ["a bad request", answer(400, "strict decoding error", "BadRequest")],
    ["more than etcd takes", answer(500, "etcdserver: request is too large")],
    ["more than the client of etcd sends", answer(500, "trying to send message larger than max (1 vs. 2)")],
    ["more than the API server reads", answer(413, "limit is 3145728", "RequestEntityTooLarge")],
  ])("is the object itself: %s", (_, error) => {
    expect(blockerOf(error)).toBeUndefined();
    expect(refusalReasonOf(error)).toBe("Invalid");
  });
});
