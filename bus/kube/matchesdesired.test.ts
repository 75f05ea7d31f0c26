/** Comparison of an object with its desired state. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { amountOf, matchesDesired } from "./matchesdesired.ts";

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<unknown>;

test("every value matches itself", () => {
  fc.assert(fc.property(json, (value) => matchesDesired(value, value)));
});

test("an object may have more fields than desired, at any depth", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), json), fc.string(), json, (desired, name, value) => {
      fc.pre(!Object.hasOwn(desired, name));
      const found = { outer: { ...desired, [name]: value }, more: 1 };
      expect(matchesDesired(found, { outer: desired })).toBe(true);
    }),
  );
});

test.each<[string, unknown, unknown, boolean]>([
  ["another value", { a: 1 }, { a: 2 }, false],
  ["a size in another form", { size: "3G" }, { size: "3000M" }, true],
  ["another size", { size: "3G" }, { size: "3Gi" }, false],
  ["a field that is missing", {}, { a: 1 }, false],
  [
    "what is empty, and left out by the API server",
    {},
    { a: "", b: [], c: {}, d: 0, e: false, f: null },
    true,
  ],
  ["an object of empty fields", { a: 1 }, { a: 1, b: { c: {}, d: [] } }, true],
  ["a list of texts in another order", { args: ["a", "b"] }, { args: ["b", "a"] }, false],
  ["a list of texts with one more", { args: ["a", "b"] }, { args: ["a"] }, false],
  [
    "named items among others",
    { env: [{ name: "x" }, { name: "a", value: "1", more: 1 }] },
    { env: [{ name: "a", value: "1" }] },
    true,
  ],
  [
    "a named item with another value",
    { env: [{ name: "a", value: "2" }] },
    { env: [{ name: "a", value: "1" }] },
    false,
  ],
  ["a named item that is missing", { env: [{ name: "b" }] }, { env: [{ name: "a" }] }, false],
  [
    "items without names, with defaults",
    { rules: [{ host: "a", http: { paths: [{ path: "/", more: 1 }] } }] },
    { rules: [{ host: "a", http: { paths: [{ path: "/" }] } }] },
    true,
  ],
  [
    "one item without a name more",
    { rules: [{ host: "a" }, { host: "b" }] },
    { rules: [{ host: "a" }] },
    false,
  ],
  [
    "an owner among owners",
    {
      o: [
        { uid: "1", name: "x" },
        { uid: "2", name: "x", controller: true },
      ],
    },
    { o: [{ uid: "2", name: "x" }] },
    true,
  ],
  [
    "the same quantity",
    { limits: { cpu: "1", memory: "1Gi" } },
    { limits: { cpu: "1000m", memory: "1024Mi" } },
    true,
  ],
  ["a quantity as a number", { limits: { cpu: "2" } }, { limits: { cpu: 2 } }, true],
  ["another quantity", { limits: { cpu: "1" } }, { limits: { cpu: "1001m" } }, false],
  ["equal numbers that are no quantities", { value: "1" }, { value: "01" }, false],
  ["a number for a text", { port: 80 }, { port: "80" }, false],
  ["an object for a text", { a: { b: 1 } }, { a: "b" }, false],
  ["a list for an object", { a: [1] }, { a: { 0: 1 } }, false],
])("%s", (_, found, desired, expected) => {
  expect(matchesDesired(found, desired)).toBe(expected);
});

test.each([
  ["100m", 0.1],
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
])("reads the quantity %s", (text, amount) => {
  expect(amountOf(text)).toBe(amount);
});
