import { expect, test } from "vitest";
import { withoutPod } from "./withoutpod.ts";

const build = { status: { podName: "web-build-1", stepsCompleted: ["prepare", "detect"] } } as never;

test.each([
  ["live", 1, "Its pod no longer exists, so there is no log. Completed steps: prepare, detect."],
  ["loading", undefined, "Looking for its pod…"],
  ["loading", 1, "Its pod is not in the last known state."],
  ["away", 1, "Its pod is not in the last known state."],
  ["away", undefined, "Its pod is not in the last known state."],
  ["refused", undefined, "You cannot view the pods of this build."],
] as const)("a build whose pod is missing from a list that is %s, as of %s", (state, asOf, reason) => {
  expect(withoutPod(build, { state, asOf })).toBe(reason);
});

test("a build that has no pod yet is reported as such in any state of the list", () => {
  expect(withoutPod({}, { state: "away" })).toBe("Its pod has not been created yet.");
});
