import { expect, test } from "vitest";
import { ApiError } from "../kube/errors.ts";
import { blockedByRefusal, blockedBySecretAccess } from "./refusal.ts";

const answer = (status: number, message: string) => new ApiError("PATCH /x", status, { message });
const explain = (reason: string, message: string) => ({
  reason: `My${reason}`,
  message: `rejected: ${message}`,
  retryAfterMillis: 7,
});

const forbidden = answer(403, "violates PodSecurity");
const causes = [{ field: "spec.image", message: "Invalid value" }, { message: "no" }];

test.each([
  ["Invalid", answer(422, "spec: Invalid value"), "spec: Invalid value"],
  [
    "Invalid",
    new ApiError("PATCH /x", 422, { message: "all of it", details: { causes } }),
    "spec.image: Invalid value; no",
  ],
  [
    "AdmissionDenied",
    answer(400, 'admission webhook "a" denied the request: no'),
    'admission webhook "a" denied the request: no',
  ],
  ["Forbidden", forbidden, forbidden.message],
])("explains the refusal %s by its message, and keeps the error as the cause", (reason, error, message) => {
  expect(blockedByRefusal(error, explain)).toMatchObject({
    ...{ name: "BlockedError", reason: `My${reason}`, retryAfterMillis: 7, cause: error },
    message: `rejected: ${message}`,
  });
});

test("explains a forbidden access to a Secret by the opt-in of its namespace", () => {
  const error = answer(403, "no");
  expect(blockedBySecretAccess(error, "cannot read the Secret a", "shop", 7)).toMatchObject({
    ...{ name: "BlockedError", reason: "SecretAccessDenied", retryAfterMillis: 7, cause: error },
    message: expect.stringMatching(
      /^cannot read the Secret a\. Opt the namespace in: denrei opt-in shop \| kubectl/,
    ),
  });
});

test.each([
  answer(409, "the object has been modified"),
  answer(503, "busy"),
  new TypeError("x is undefined"),
])("throws an error unchanged that is no refusal: %s", (error) => {
  expect(() => blockedByRefusal(error, explain)).toThrow(error);
  expect(() => blockedBySecretAccess(error, "cannot read the Secret a", "shop", 7)).toThrow(error);
});
