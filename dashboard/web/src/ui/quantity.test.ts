import { expect, test } from "vitest";
import { cpuText, memoryText, quantity } from "./quantity.ts";

test.each([
  ["100m", 0.1],
  ["2", 2],
  [2, 2],
  ["1.5", 1.5],
  ["12500000n", 0.0125],
  ["250u", 0.00025],
  ["64Mi", 67_108_864],
  ["1e3", 1000],
  ["2k", 2000],
  ["", undefined],
  [undefined, undefined],
  ["much", undefined],
  ["1Qi", undefined],
])("reads the quantity %s", (text, value) => {
  expect(quantity(text)).toBe(value);
});

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
