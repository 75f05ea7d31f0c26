import { describe, expect, test } from "vitest";
import { type LabelSelector, matchesLabels } from "./labelselector.ts";

describe("label selectors", () => {
  const at = (operator: string, values?: string[]): LabelSelector =>
    ({ matchExpressions: [{ key: "env", operator, ...(values && { values }) }] }) as LabelSelector;
  test.each([
    ["In", ["prod", "dev"], { prod: true, test: false, absent: false }],
    ["NotIn", ["prod", "dev"], { prod: false, test: true, absent: true }],
    ["Exists", undefined, { prod: true, test: true, absent: false }],
    ["DoesNotExist", undefined, { prod: false, test: false, absent: true }],
    ["Resembles", ["prod"], { prod: false, test: false, absent: false }],
  ])("evaluates %s %j", (operator, values, expected) => {
    const selector = at(operator, values);
    expect({
      prod: matchesLabels(selector, { env: "prod" }),
      test: matchesLabels(selector, { env: "test" }),
      absent: matchesLabels(selector, { team: "a" }),
    }).toEqual(expected);
  });

  test("matches everything when empty", () => {
    for (const empty of [{}, { matchLabels: {} }, { matchExpressions: [] }])
      for (const labels of [{}, { team: "a" }]) expect(matchesLabels(empty, labels)).toBe(true);
  });

  test("requires all expressions, and distinguishes case", () => {
    const selector: LabelSelector = { matchLabels: { team: "a" }, ...at("In", ["prod"]) };
    expect(matchesLabels(selector, { team: "a", env: "prod", other: "x" })).toBe(true);
    expect(matchesLabels(selector, { team: "b", env: "prod" })).toBe(false);
    expect(matchesLabels(selector, { team: "a", env: "dev" })).toBe(false);
    expect(matchesLabels(selector, { team: "a", env: "Prod" })).toBe(false);
    expect(matchesLabels(selector, { env: "prod" })).toBe(false);
  });

  test("does not treat properties of JavaScript objects as labels", () => {
    const exists: LabelSelector = { matchExpressions: [{ key: "constructor", operator: "Exists" }] };
    const absent: LabelSelector = { matchExpressions: [{ key: "toString", operator: "DoesNotExist" }] };
    expect([matchesLabels(exists, {}), matchesLabels(absent, {})]).toEqual([false, true]);
    expect([
      matchesLabels(exists, { constructor: "x" }),
      matchesLabels(absent, { toString: "x" } as never),
    ]).toEqual([true, false]);
  });
});
