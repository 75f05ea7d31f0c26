import { expect, test } from "vitest";
import { durationLines } from "./durations.ts";

const file = (path: string, total: number) => ({ path, tests: 2, total, setUp: total / 2 });

test("a run of many files ends with the time per folder and the 20 slowest files", () => {
  const files = [
    ...Array.from({ length: 24 }, (_, at) => file(`test/e2e/${at}.test.ts`, at)),
    file("bus/queue/job.test.ts", 100),
    file("bus/values/glob.test.ts", 300),
  ];
  const cells = durationLines(files).map((line) => line.trim().split(/ {2,}/));
  expect(cells.slice(0, 6)).toEqual([
    ["folder", "files", "tests", "seconds", "set-up"],
    ["bus", "2", "4", "400.0", "200.0"],
    ["test/e2e", "24", "48", "276.0", "138.0"],
    ["all", "26", "52", "676.0", "338.0"],
    [""],
    ["slowest files", "tests", "seconds", "set-up"],
  ]);
  expect(cells.slice(6).map(([path]) => path)).toEqual([
    "bus/values/glob.test.ts",
    "bus/queue/job.test.ts",
    ...Array.from({ length: 18 }, (_, at) => `test/e2e/${23 - at}.test.ts`),
  ]);
});

test("a run of a few files ends without them", () => {
  expect(durationLines([file("bus/values/glob.test.ts", 1)])).toEqual([]);
});
