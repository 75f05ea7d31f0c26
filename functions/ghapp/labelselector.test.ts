import { describe, expect, test } from "vitest";
import { type LabelSelector, selects } from "./labelselector.ts";

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
      prod: selects(selector, { env: "prod" }),
      test: selects(selector, { env: "test" }),
      absent: selects(selector, { team: "a" }),
    }).toEqual(expected);
  });

  test("matches everything when empty", () => {
    for (const empty of [{}, { matchLabels: {} }, { matchExpressions: [] }])
      for (const labels of [{}, { team: "a" }]) expect(selects(empty, labels)).toBe(true);
  });

  test("requires all expressions, and distinguishes case", () => {
    const selector: LabelSelector = { matchLabels: { team: "a" }, ...at("In", ["prod"]) };
    expect(selects(selector, { team: "a", env: "prod", other: "x" })).toBe(true);
    expect(selects(selector, { team: "b", env: "prod" })).toBe(false);
    expect(selects(selector, { team: "a", env: "dev" })).toBe(false);
    expect(selects(selector, { team: "a", env: "Prod" })).toBe(false);
    expect(selects(selector, { env: "prod" })).toBe(false);
  });

  test("does not treat properties of JavaScript objects as labels", () => {
    const exists: LabelSelector = { matchExpressions: [{ key: "constructor", operator: "Exists" }] };
    const absent: LabelSelector = { matchExpressions: [{ key: "toString", operator: "DoesNotExist" }] };
    expect([selects(exists, {}), selects(absent, {})]).toEqual([false, true]);
    expect([selects(exists, { constructor: "x" }), selects(absent, { toString: "x" } as never)]).toEqual([
      true,
      false,
    ]);
  });
});
