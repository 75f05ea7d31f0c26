import { expect, test } from "vitest";
import { ApiError } from "./errors.ts";

test("an answer that is not a Status becomes one line, without a reason", () => {
  const error = new ApiError("GET /x", 404, { message: "404 page not found\n" });
  expect(error.message).toBe("GET /x was answered 404: 404 page not found");
  expect(new ApiError("GET /x", 502, { message: " " }).message).toBe("GET /x was answered 502: no message");
});

test("a 401 points to the user of the kubeconfig", () => {
  expect(new ApiError("GET /x", 401, { reason: "Unauthorized", message: "Unauthorized" }).message).toBe(
    "GET /x was answered 401 Unauthorized: Unauthorized. Check the user of the kubeconfig's current context.",
  );
});

test("advice continues the message, and the answer is without it", () => {
  const error = new ApiError("GET /x", 403, { reason: "Forbidden", message: "no" }, { advice: ". Do y." });
  expect([error.message, error.answer]).toEqual([
    "GET /x was answered 403 Forbidden: no. Do y.",
    "GET /x was answered 403 Forbidden: no",
  ]);
});
