import { describe, expect, test } from "vitest";
import { blockerOf, refusalReasonOf } from "./blocker.ts";
import { ApiError, ApiUnreachableError } from "./errors.ts";

const answer = (status: number, message: string, reason = "InternalError"): ApiError =>
  new ApiError("POST /api/v1/namespaces/n/configmaps", status, { message, reason });

describe("what blocks a request", () => {
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
