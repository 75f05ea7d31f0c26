import { expect, test } from "vitest";
import { importedNames, textWithNames } from "./importednames.ts";

test.each([
  ['import { A, B as C } from "x";', ["A", "B"]],
  ["import D, { A } from 'x'", ["default", "A"]],
  ['import D from "x"', ["default"]],
  ['import {\n  A,\n  B,\n} from "x";', ["A", "B"]],
  ['import { A } from "x"; import { B } from "x";', ["A", "B"]],
  ['export { A } from "x"', ["A"]],
  ['import{A}from"x"', ["A"]],
  ['import { A, /* the B */ B, // a } in a comment\n  C } from "x"', ["A", "B", "C"]],
  ['import /* all */ { A } from /* there */ "x"', ["A"]],
  ['import { Größe, $a, _b } from "x"', ["Größe", "$a", "_b"]],
  ['import {      } from "x"', []],
])("finds the names in %j", (text, names) => {
  expect(importedNames(text).get("x")).toEqual(names);
});

test.each([
  ['import * as all from "x"'],
  ['import "x"'],
  ['const a = import("cdk8s")'],
  ['import * as all from "x"; import {   } from "x"'],
])("finds no names in %j", (text) => {
  expect(importedNames(text).size).toBe(0);
});

test("quotes names and specifiers in generated source", () => {
  const text = textWithNames('a"b', ["default", "A"], "stand-in");
  expect(text.split("\n")[0]).toBe('import * as all from "a\\"b";');
  expect(text).toContain("export { value0 as default };");
  expect(text).toContain("export { value1 as A };");
  expect(text).toContain('export * from "a\\"b";');
});
