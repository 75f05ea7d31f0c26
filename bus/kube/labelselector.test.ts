import { describe, expect, test } from "vitest";
import { type LabelSelector, labelSelectorOf, labelSelectorText, selects } from "./labelselector.ts";

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

describe("label selectors as text", () => {
  const web = { app: "web", tier: "front", "example.com/owner": "a" };
  test.each([
    ["", true],
    ["app=web,tier==front", true],
    ["app = db", false],
    ["app!=db,missing!=x", true],
    ["tier in (front, back),app notin (db)", true],
    ["tier in (back)", false],
    ["example.com/owner,!canary", true],
    ["! app", false],
    ["missing in (,x)", false],
    ["empty=", false],
  ])("%j selects the labels: %s", (text, expected) => {
    const selector = labelSelectorOf(text);
    expect(selects(selector, web)).toBe(expected);
    // The text for the API server has the same meaning.
    expect(labelSelectorOf(labelSelectorText(selector))).toEqual(text === "" ? {} : selector);
  });

  test("writes matchLabels and matchExpressions as one text", () => {
    const selector: LabelSelector = {
      matchLabels: { app: "web" },
      matchExpressions: [
        { key: "tier", operator: "NotIn", values: ["db", "cache"] },
        { key: "owner", operator: "Exists" },
        { key: "canary", operator: "DoesNotExist" },
      ],
    };
    expect(labelSelectorText(labelSelectorOf(selector))).toBe(
      "app in (web),tier notin (db,cache),owner,!canary",
    );
    expect(labelSelectorText({})).toBe("");
  });

  test.each([
    ["app=web,", 'found ""'],
    ["app>1", 'found "app>1"'],
    ["!app=web", 'found "!app=web"'],
    ["app in web", 'found "app in web"'],
    ["-app", '"-app" is not the key of a label'],
    ["app=-", '"-" is not the value of a label'],
    [`app=${"a".repeat(64)}`, "is not the value of a label"],
    [{ matchExpressions: [{ key: "app", operator: "In" }] }, "In needs at least one value"],
    [{ matchExpressions: [{ key: "app", operator: "Exists", values: ["x"] }] }, "Exists takes no values"],
    [{ matchExpressions: [{ key: "app", operator: "Gt", values: ["1"] }] }, 'found "Gt"'],
    [{ app: "web" }, 'found "app"'],
  ])("rejects %j", (selector, message) => {
    const read = () => labelSelectorOf(selector as LabelSelector | string);
    expect(read).toThrow(RangeError);
    expect(read).toThrow(message);
  });
});
