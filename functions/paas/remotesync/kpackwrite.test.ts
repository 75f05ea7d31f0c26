import { expect, test } from "vitest";
import { ApiError } from "../../../bus/kube/errors.ts";
import { writeToKpack } from "./kpackwrite.ts";

const apply = "PATCH /apis/kpack.io/v1alpha2/namespaces/default/images/web";

test.each<readonly [string, ApiError, number]>([
  // A missing CRD results in a 404 without a reason.
  ["KpackNotInstalled", new ApiError(apply, 404, { message: "404 page not found" }), 30_000],
  [
    "KpackUnavailable",
    new ApiError(apply, 500, {
      reason: "InternalError",
      message: 'failed calling webhook "defaults.webhook.kpack.io": connection refused',
    }),
    10_000,
  ],
  [
    "ImageRefused",
    new ApiError(apply, 400, {
      reason: "BadRequest",
      message: 'admission webhook "validation.webhook.kpack.io" denied the request: no',
    }),
    300_000,
  ],
])("retries a write that fails with %s soon after kpack is back", async (reason, error, millis) => {
  await expect(writeToKpack(() => Promise.reject(error))).rejects.toMatchObject({
    ...{ name: "BlockedError", reason, retryAfterMillis: millis, cause: error },
  });
});

test("throws other errors unchanged", async () => {
  const error = new ApiError(apply, 409, { reason: "Conflict", message: "changed" });
  await expect(writeToKpack(() => Promise.reject(error))).rejects.toBe(error);
});
