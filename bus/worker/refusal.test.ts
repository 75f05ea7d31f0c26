import { expect, test } from "vitest";
import { ApiError } from "../kube/errors.ts";
import { blockedByRefusal, blockedBySecretAccess } from "./refusal.ts";

const answer = (status: number, message: string) => new ApiError("PATCH /x", status, { message });
const explain = (reason: string, message: string) => ({
  reason: `My${reason}`,
  message: `rejected: ${message}`,
  retryAfterMillis: 7,
});

test("explains a refusal by its reason and message, and keeps the error as the cause", () => {
  const error = answer(422, "spec: Invalid value");
  expect(blockedByRefusal(error, explain)).toMatchObject({
    ...{ name: "BlockedError", reason: "MyInvalid", retryAfterMillis: 7, cause: error },
    message: `rejected: ${error.message}`,
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
