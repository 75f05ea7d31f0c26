import { expect, test } from "vitest";
import { withPasted } from "./variables.ts";

const secret = { name: "B", valueFrom: { secretKeyRef: { name: "s", key: "k" } } };
const pasted = [
  { name: "A", value: "2" },
  { name: "B", value: "3" },
];

test("replaces plain values, and adds the others at the end", () => {
  expect(withPasted([{ name: "A", value: "1" }, secret, { name: "C", value: "c" }], pasted)).toEqual({
    variables: [{ name: "A", value: "2" }, secret, { name: "C", value: "c" }, { name: "B", value: "3" }],
    added: 1,
    replaced: 1,
  });
});

test("fills the empty row that was pasted into, and adds after one that is not empty", () => {
  expect(withPasted([{ name: "", value: "" }, { name: "C" }], pasted, 0).variables).toEqual([
    ...pasted,
    { name: "C" },
  ]);
  expect(withPasted([{ name: "C" }, { name: "D" }], pasted, 0).variables).toEqual([
    { name: "C" },
    ...pasted,
    { name: "D" },
  ]);
});
