import { expect, test } from "vitest";
import { z } from "zod";
import { selectionIn, selectionSchema } from "./sharedselection.ts";

const throughBus = (select: z.ZodType) => selectionIn(JSON.parse(JSON.stringify(selectionSchema(select))));

const Comment = z.object({
  text: z.string(),
  get replies() {
    return z.array(Comment).optional();
  },
});

test.each<[string, z.ZodType, unknown]>([
  [
    "fields of objects in lists",
    z.object({ a: z.array(z.object({ b: z.string() })) }),
    { a: [{ b: "x", c: 1 }] },
  ],
  ["records", z.record(z.string(), z.object({ b: z.boolean() })), { x: { b: true, c: 1 }, y: { b: false } }],
  ["unions", z.object({ a: z.union([z.object({ b: z.string() }), z.null()]) }), { a: { b: "x", c: 1 } }],
  ["nullable fields", z.object({ a: z.string().nullable(), b: z.int().optional() }), { a: null, c: 1 }],
  [
    "enums",
    z.object({ a: z.enum(["x", "y"]), b: z.literal(5), c: z.literal(null) }),
    { a: "x", b: 5, c: null },
  ],
  [
    "whole values",
    z.object({ a: z.unknown(), b: z.looseObject({ c: z.string() }) }),
    { a: { d: 1 }, b: { c: "", d: 1 } },
  ],
  [
    "tuples",
    z.object({ a: z.tuple([z.string(), z.object({ b: z.number() })]) }),
    { a: ["x", { b: 1, c: 2 }] },
  ],
  [
    "intersections",
    z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
    { a: "x", b: "y", c: 1 },
  ],
  [
    "recursive fields",
    z.object({ comment: Comment }),
    { comment: { text: "x", replies: [{ text: "y", c: 1 }], c: 1 } },
  ],
])("a selection from the bus selects the same: %s", (_, select, payload) => {
  expect(throughBus(select).parse(payload)).toEqual(select.parse(payload));
});

test("leaves defaults to the function, and rejects other types", () => {
  const select = throughBus(
    z.object({ a: z.string().default("none"), b: z.number().catch(7), c: z.string() }),
  );
  expect(select.parse({ b: "text", c: "x" })).toEqual({ c: "x" });
  expect(select.parse({ a: "x", b: 1, c: "x" })).toEqual({ a: "x", b: 1, c: "x" });
  expect(select.safeParse({ c: { d: "x" } }).success).toBe(false);
});

test("leaves formats, lengths, ranges, and refinements to the function", () => {
  const refined = z.string().refine(() => false);
  const select = throughBus(z.object({ a: z.email(), b: z.string().min(3), c: z.int().min(3), d: refined }));
  const payload = { a: "x", b: "x", c: 0.5, d: "x" };
  expect(select.parse(payload)).toEqual(payload);
});
