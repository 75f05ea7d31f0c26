import { expect, test } from "vitest";
import { scheduleProblem } from "./cron.ts";

test.each([
  ["0 * * *", "found 4 fields"],
  ["0 0 * * * *", "found 6 fields"],
  ["TZ=UTC 0 * * *", "found 4 fields"],
  ["61 * * * *", "minute: expected *, a number from 0 to 59"],
  ["* * * * 7", "day of the week: expected *, a number from 0 to 6"],
  ["*/0 * * * *", "minute: expected a step of at least 1"],
  ["@reboot", 'found "@reboot"'],
  ["@every 5", "expected a duration"],
  ["TZ=Asia/Tokyo 0 9 * * *", "expected the time zone UTC"],
])("rejects the schedule %s", (schedule, problem) => {
  expect(scheduleProblem(schedule)).toContain(problem);
});
