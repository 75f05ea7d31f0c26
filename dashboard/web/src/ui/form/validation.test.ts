import { expect, test } from "vitest";
import { z } from "zod";
import { check, sentenceOf } from "./validation.ts";

const message = (schema: z.ZodType, draft: unknown): string | undefined => check(schema, draft)[0]?.message;

test.each([
  ["a missing value", z.string(), undefined, "Enter a value."],
  ["a missing choice", z.enum(["a", "b"]), undefined, "Enter a value."],
  ["a text for a number", z.number(), "x", "Enter a number."],
  ["a fraction", z.int(), 1.5, "Enter a whole number."],
  ["a small number", z.int().min(1), 0, "Enter a number of at least 1."],
  ["a large number", z.int().max(5), 9, "Enter a number of at most 5."],
  ["a short text", z.string().min(2), "x", "Use at least 2 characters."],
  ["a long text", z.string().max(1), "xx", "Use at most 1 character."],
  ["another type", z.string(), 1, "This value is not valid: expected string, received number"],
  ["another limit", z.number().gt(0), 0, "This value is not valid: Too small: expected number to be >0"],
  ["another choice", z.enum(["a", "b"]), "c", /^This value is not valid: Invalid option: /],
])("reports %s in a sentence", (_, schema, draft, expected) => {
  expect(message(schema, draft)).toEqual(
    typeof expected === "string" ? expected : expect.stringMatching(expected),
  );
});

test("keeps the schema's own message, whatever its form", () => {
  expect(message(z.string().regex(/^a/, "starts with another letter"), "b")).toBe(
    "starts with another letter",
  );
  expect(message(z.string("Enter a name."), undefined)).toBe("Enter a name.");
});

test("names the field, and reports the last option of a union", () => {
  const schema = z.object({ spec: z.object({ ports: z.array(z.union([z.string(), z.int().min(1)])) }) });
  expect(check(schema, { spec: { ports: [1, 0] } })).toEqual([
    { field: "spec.ports[1]", message: "Enter a number of at least 1." },
  ]);
});

test("puts a sentence in front of a reason of Kubernetes, even of one that looks like a sentence", () => {
  const of = (message: string, isSentence?: boolean) =>
    sentenceOf({ field: "spec", message, ...(isSentence && { isSentence }) });
  expect(of("Invalid value: 9: should be less than 5")).toBe(
    "Kubernetes rejects this value: 9: should be less than 5",
  );
  expect(of("Field is immutable.")).toBe("Kubernetes rejects this value: Field is immutable.");
  expect(of("You cannot see this repository.", true)).toBe("You cannot see this repository.");
});
