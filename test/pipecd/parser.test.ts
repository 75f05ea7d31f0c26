/** Denrei rejects what PipeCD's programs reject at start, according to the record of `parser.nightly.test.ts`. */
import { expect, test } from "vitest";
import { documentOf } from "../../functions/pipecd/config/document.ts";
import { checkedFields, type FieldName } from "./parser/fields.ts";
import { recorded } from "./parser/recorded.ts";
import { checkedValues, stricter } from "./parser/values.ts";

const names = Object.keys(checkedFields) as FieldName[];

test.each(names)("%s: rejects exactly the values that PipeCD rejects, and the stricter ones", (name) => {
  const { problemOf } = checkedFields[name];
  const record = recorded()[name];
  const expectedRejections = checkedValues[name].filter((value) => record[value] || stricter[name]?.[value]);
  expect(checkedValues[name].filter((value) => problemOf(value) !== undefined)).toEqual(expectedRejections);
});

test.each(names)("%s: PipeCD accepts the stricter values", (name) => {
  for (const value of Object.keys(stricter[name] ?? {})) expect(recorded()[name][value]).toBe("");
});

test("quotes strings that YAML could read as another type, and escapes unprintable characters", () => {
  const odd = [
    "0o5",
    "3e26_",
    "1_000",
    ".5",
    "0x1p-2",
    "~",
    "<<",
    "y",
    "on",
    "1:30",
    "2001-01-01",
    "=",
    "",
    "a: b",
    "a #b",
  ];
  const unprintable = ["\x7f", "\u0085", "\u2028", "\ufeff", "\0"];
  const text = documentOf("Piped", { odd, unprintable, map: { "<<": "y", yes: "no" } });
  for (const value of odd) expect(text).toContain(`- ${JSON.stringify(value)}\n`);
  expect(text).toContain('"<<": "y"\n    "yes": "no"\n');
  expect(text).toMatch(/^[\n -~]*$/);
  for (const value of unprintable)
    expect(text).toContain(`"\\u${value.charCodeAt(0).toString(16).padStart(4, "0")}"`);
});

test("does not quote plain words, paths, and addresses", () => {
  const plain = ["quickstart", "/etc/piped-secret/piped-key", "http://m:9000", "root:te/st@tcp(m:3306)"];
  expect(documentOf("Piped", { plain })).toBe(
    `apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n  plain:\n${plain.map((value) => `    - ${value}\n`).join("")}`,
  );
});
