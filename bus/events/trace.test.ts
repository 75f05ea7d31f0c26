/** Trace contexts, as they are passed on. */
import { expect, test } from "vitest";
import { childTrace, newTrace, parseTrace } from "./trace.ts";

const [traceId, spanId] = ["a".repeat(32), "b".repeat(16)];

test("a trace that begins here has not been recorded", () => {
  expect(newTrace()).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  expect(newTrace()).not.toBe(newTrace());
});

test.each([
  ["01", "01"],
  ["00", "00"],
  ["03", "01"],
])("its child with the flags %s has the flags %s and another span", (flags, passedOn) => {
  const child = childTrace(`00-${traceId}-${spanId}-${flags}`);
  expect(child).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-${passedOn}$`));
  expect(child).not.toContain(spanId);
});

test.each([
  undefined,
  "",
  "x",
  `00-${traceId}-${spanId}`,
  `01-${traceId}-${spanId}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${"0".repeat(32)}-${spanId}-01`,
  `00-${traceId}-${"0".repeat(16)}-01`,
  `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
])("%s is no trace context, and nothing goes on with it", (text) => {
  expect(parseTrace(text)).toBeUndefined();
  expect(childTrace(text)).toMatch(/-00$/);
});
