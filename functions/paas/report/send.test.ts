import { expect, test } from "vitest";
import { BlockedError } from "../../../bus/worker/errors.ts";
import { delaysDeletion } from "./send.ts";

test.each([
  ["GitHubUnreachable", 0, true],
  ["GitHubUnreachable", 59_999, true],
  ["GitHubUnreachable", 60_000, false],
  ["RateLimited", 59_999, true],
  ["RateLimited", 60_000, false],
  ["SecretNotFound", 0, false],
  ["TokenRejected", 0, false],
])("%s, %i ms after the deletion, delays it: %s", (reason, sinceMillis, waits) => {
  expect(delaysDeletion(new BlockedError(reason, "", 30_000), sinceMillis)).toBe(waits);
});
