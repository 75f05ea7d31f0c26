import { expect, test } from "vitest";
import { cpuText, memoryText } from "./quantity.ts";

test("writes CPU and memory in the units of Kubernetes", () => {
  expect([0, 0.0125, 0.9994, 1, 1.254, 12].map(cpuText)).toEqual(["0m", "13m", "999m", "1", "1.25", "12"]);
  expect([0, 1023, 46_000_000, 2 ** 30, 1.5 * 2 ** 30, 2 ** 60].map(memoryText)).toEqual([
    "0 B",
    "1023 B",
    "44 MiB",
    "1.0 GiB",
    "1.5 GiB",
    "1048576 TiB",
  ]);
});
