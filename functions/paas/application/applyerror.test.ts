import { expect, test } from "vitest";
import { ApiError, ApiUnreachableError } from "../../../bus/kube/errors.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import { refusalOf, refusalOfAll } from "./applyerror.ts";

const child = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "HTTPRoute",
  metadata: { name: "web", namespace: "default" },
};
const answer = (status: number, message: string, advice = "") =>
  new ApiError("PATCH /x", status, { message }, { advice });

test.each([
  [422, "spec: Invalid value", "Invalid"],
  [400, "not a HTTPRoute", "Invalid"],
  [500, "failed to convert new object (default/web) to proper version", "Invalid"],
  [403, "exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1", "QuotaExceeded"],
  [403, "violates PodSecurity", "Forbidden"],
  [400, 'admission webhook "policy.example" denied the request: no', "AdmissionDenied"],
  [500, 'failed calling webhook "policy.example": connection refused', "AdmissionWebhookUnavailable"],
  [404, "404 page not found", "KindNotInstalled"],
])("treats %i (%s) as the refusal %s", (status, message, reason) => {
  const refusal = refusalOf(answer(status, message), child);
  expect(refusal).toMatchObject({ name: "BlockedError", reason });
  expect(refusal.message).toContain("HTTPRoute web");
  expect(refusal.message).toContain(message);
});

test("replaces general advice by advice on missing rights", () => {
  const hints = { Forbidden: "Apply the roles." };
  const missing = refusalOf(
    answer(403, 'User "worker" cannot patch resource "httproutes"', ". Add x."),
    child,
    {
      hints,
    },
  );
  expect(missing.message).toContain("Apply the roles. PATCH /x was answered 403");
  expect(missing.message).not.toContain("Add x");
  const limited = refusalOf(answer(403, "maximum storage usage is 1Gi"), child, { hints });
  expect(limited.message).not.toContain("Apply the roles.");
});

test.each([
  ["an overloaded API server", answer(500, "etcdserver: request timed out")],
  ["a conflict", answer(409, "the object has been modified")],
  ["an unavailable API server", new ApiUnreachableError("refused")],
  ["a bug", new TypeError("x is undefined")],
])("does not treat %s as a refusal", (_, error) => {
  expect(() => refusalOf(error, child)).toThrow(error);
});

test("returns a BlockedError unchanged", () => {
  const taken = new BlockedError("NameTaken", "found another owner's");
  expect(refusalOf(taken, child)).toBe(taken);
});

test("combines refusals with the first reason, all messages, and the shortest interval", () => {
  const [slow, soon] = [
    new BlockedError("Invalid", "this", 300_000),
    new BlockedError("NameTaken", "that", 5000),
  ];
  expect(refusalOfAll([slow, soon])).toMatchObject({
    reason: "Invalid",
    message: "this; that",
    retryAfterMillis: 5000,
  });
  expect(refusalOfAll([])).toBeUndefined();
});
