import fc from "fast-check";
import { expect, test } from "vitest";
import { parseDotenv, pastedVariables } from "./dotenv.ts";

test.each([
  ["A=b", "b"],
  ["  A = b  ", "b"],
  ["export A=b", "b"],
  ["A=", ""],
  ["A=b # comment", "b"],
  ["A=b#c", "b#c"],
  ["A=# comment", ""],
  ["A=a=b", "a=b"],
  ["A='b # c'", "b # c"],
  ['A="b # c" # d', "b # c"],
  ['A=`it\'s "b"`', 'it\'s "b"'],
  ["A='a\\nb'", "a\\nb"],
  ['A="a\\nb\\"c"', 'a\nb"c'],
  ["A='begins", "'begins"],
  ['A="it\'s"', "it's"],
])("reads %j as the value %j", (line, value) => {
  expect(parseDotenv(line)).toEqual({ variables: [{ name: "A", value }], unknownLines: [] });
});

test("reads comments, empty lines, values of several lines, and Windows line breaks", () => {
  const text = '# settings\r\nA=1\r\n\r\nKEY="-----BEGIN\nabc\n-----END"\n  # indented\nexport B=2';
  expect(parseDotenv(text)).toEqual({
    variables: [
      { name: "A", value: "1" },
      { name: "KEY", value: "-----BEGIN\nabc\n-----END" },
      { name: "B", value: "2" },
    ],
    unknownLines: [],
  });
});

test("keeps the last of equal names, and reports lines that are no variables", () => {
  expect(parseDotenv('A=1\nnonsense\nB="x\ny"\n=\nA=2')).toEqual({
    variables: [
      { name: "A", value: "2" },
      { name: "B", value: "x\ny" },
    ],
    unknownLines: [2, 5],
  });
});

test("reads back what it would write", () => {
  const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,8}$/);
  const value = fc.string({ maxLength: 12 }).map((text) => text.replaceAll(/\r/g, ""));
  fc.assert(
    fc.property(fc.uniqueArray(fc.record({ name, value }), { selector: (one) => one.name }), (variables) => {
      const text = variables
        .map((one) => `${one.name}="${one.value.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`)
        .join("\n");
      expect(parseDotenv(text)).toEqual({ variables, unknownLines: [] });
    }),
  );
});

test("ends with any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("A", "=", '"', "\\", "\n", " ", "#") }), (text) => {
      expect(parseDotenv(text).unknownLines.length).toBeLessThanOrEqual(text.split("\n").length);
    }),
  );
});

test("splits pasted text only if it is no name or value itself", () => {
  expect(pastedVariables("A=1", "name")).toEqual([{ name: "A", value: "1" }]);
  expect(pastedVariables("A=1", "value")).toBeUndefined();
  expect(pastedVariables("A=1\nB=2", "value")).toHaveLength(2);
  expect(pastedVariables("A", "name")).toBeUndefined();
  expect(pastedVariables("Host: a\nUser: b", "value")).toBeUndefined();
  expect(pastedVariables("-----BEGIN\nabc=\n-----END", "value")).toBeUndefined();
});
