/** Results recorded from `resource.Quantity` of kpack v0.17.2 (k8s.io/apimachinery v0.34.3), decoding and encoding JSON. */
import { expect, test } from "vitest";
import { canonicalQuantity, quantityProblem } from "../../deploy/simulators/kpack/quantity.ts";

test.each([
  ["0", "0"],
  ["3G", "3G"],
  ["3000M", "3G"],
  ["2048Mi", "2Gi"],
  ["1.5Gi", "1536Mi"],
  ["0.5Gi", "512Mi"],
  ["-0.5Gi", "-512Mi"],
  ["0.5", "500m"],
  ["-1500m", "-1500m"],
  ["1.2Gi", "1288490188800m"],
  ["1000m", "1"],
  ["2e9", "2e9"],
  ["12e8", "1200e6"],
  ["1e-3", "1e-3"],
  ["1.5e3", "1500"],
  ["0.0001", "100u"],
  ["0.1n", "1n"],
  ["1500u", "1500u"],
  ["1Ki", "1Ki"],
  ["1023Ki", "1023Ki"],
  ["1024", "1024"],
  ["0.5Ki", "512"],
  ["0.0005Ki", "512m"],
  ["0.1Mi", "104857600m"],
  ["1000k", "1M"],
  ["G", "0"],
  [" 1G ", "1G"],
  [3, "3"],
  [1.5, "1500m"],
  [2_000_000_000, "2G"],
  ["123456789.123456789123", "123456789123456790n"],
])("%s is written as %s", (value, text) => {
  expect(canonicalQuantity(value)).toBe(text);
  expect(canonicalQuantity(text)).toBe(text);
});

const format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const suffix = "unable to parse quantity's suffix";

test.each([
  ...["", "1 G", "1.5.5", "1Q", "banana", "1e3i", true, [], {}].map((value) => [value, format]),
  ...["1e", "1ee", "1K", "1ki", "1mi", "1+3", "1m3"].map((value) => [value, suffix]),
])("%j is refused: %s", (value, text) => {
  expect(quantityProblem(value)).toBe(text);
});
