/** Propagation of trace contexts. */
import { expect, test } from "vitest";
import { childTrace, newTrace, parseTrace } from "./trace.ts";

const [traceId, spanId] = ["a".repeat(32), "b".repeat(16)];

test("a new trace is not sampled", () => {
  expect(newTrace()).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  expect(newTrace()).not.toBe(newTrace());
});

test.each([
  ["01", "01"],
  ["00", "00"],
  ["03", "01"],
])("a child of a trace with the flags %s has the flags %s and a new span id", (flags, passedOn) => {
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
])("%s is not a trace context, and a new trace starts", (text) => {
  expect(parseTrace(text)).toBeUndefined();
  expect(childTrace(text)).toMatch(/-00$/);
});
