import { expect, test } from "vitest";
import { z } from "zod";
import { cel, listMap } from "../crd.ts";
import { structuralSchema } from "./structural.ts";

const { MAX_SAFE_INTEGER: largest } = Number;
const int = { type: "integer", format: "int64", minimum: -largest, maximum: largest };

function converted(schema: z.ZodType): unknown {
  const problems: string[] = [];
  const { properties } = structuralSchema(z.object({ field: schema }), "spec", problems);
  expect(problems).toEqual([]);
  return (properties as Record<string, unknown>).field;
}

function problemsOf(schema: z.ZodType): string[] {
  const problems: string[] = [];
  structuralSchema(z.object({ field: schema }), "spec", problems);
  return problems;
}

test("converts variants with the same fields to restrictions of one structure", () => {
  const variants = z.discriminatedUnion("type", [
    z.object({ type: z.literal("a"), size: z.int().min(1), path: z.never().optional() }),
    z.object({ type: z.literal("b"), size: z.never().optional(), path: z.string().optional() }),
  ]);
  expect(converted(variants)).toEqual({
    type: "object",
    properties: {
      type: { type: "string" },
      size: { type: "integer", format: "int64" },
      path: { type: "string" },
    },
    anyOf: [
      {
        required: ["type", "size"],
        properties: { type: { enum: ["a"] }, size: { minimum: 1, maximum: largest } },
        not: { anyOf: [{ required: ["path"] }] },
      },
      { required: ["type"], properties: { type: { enum: ["b"] } }, not: { anyOf: [{ required: ["size"] }] } },
    ],
  });
});

test.each<[string, z.ZodType, unknown]>([
  ["unknown", z.unknown(), { "x-kubernetes-preserve-unknown-fields": true, nullable: true }],
  ["readonly", z.array(z.string()).readonly(), { type: "array", items: { type: "string" } }],
  [
    "a tuple of one type",
    z.tuple([z.int(), z.int()]),
    { type: "array", items: int, minItems: 2, maxItems: 2 },
  ],
  [
    "integers or strings",
    z.union([z.int(), z.string()]),
    { "x-kubernetes-int-or-string": true, minimum: -largest, maximum: largest },
  ],
  [
    "a loose object",
    z.looseObject({}),
    { type: "object", properties: {}, "x-kubernetes-preserve-unknown-fields": true },
  ],
  ["fractional bounds of integers", z.int().gt(0.5).lt(3), { ...int, minimum: 1, maximum: 2 }],
  [
    "fractional bounds of numbers",
    z.number().min(0.5),
    { type: "number", minimum: 0.5, not: { minimum: 0, maximum: 0 } },
  ],
  [
    "integers among fractions",
    z.literal([1, 1.5]),
    { type: "number", anyOf: [{ minimum: 1, maximum: 1 }, { enum: [1.5] }] },
  ],
  ["exclusive bounds", z.number().gt(1), { type: "number", minimum: 1, exclusiveMinimum: true }],
  [
    "several regexes",
    z.string().regex(/a/).regex(/b/),
    { type: "string", pattern: "a", allOf: [{ pattern: "b" }] },
  ],
  ["a custom format", z.stringFormat("duration", /^\d+[smh]$/), { type: "string", pattern: "^\\d+[smh]$" }],
  [
    "a format with another pattern",
    z.iso.duration({ pattern: /^P\d+D$/ }),
    { type: "string", pattern: "^P\\d+D$" },
  ],
  [
    "a format that code checks, ignoring its pattern",
    z.base64({ pattern: /^a$/ } as never),
    { type: "string", pattern: z.regexes.base64.source },
  ],
  [
    "a prefix, ignoring its pattern",
    z.string().startsWith("a", { pattern: /^b/ } as never),
    { type: "string", pattern: "^a[^\\n\\r\\x{2028}\\x{2029}]*" },
  ],
  [
    "keys with a regex",
    z.record(z.string().regex(/^[a-z]+$/), z.boolean()),
    {
      type: "object",
      additionalProperties: { type: "boolean" },
      "x-kubernetes-validations": [
        { rule: 'self.all(key, key.matches("^[a-z]+$"))', message: 'keys must satisfy: matches("^[a-z]+$")' },
      ],
    },
  ],
  [
    "a value or null",
    z.literal(["a", null]),
    { type: "string", nullable: true, anyOf: [{ enum: ["a"] }, { pattern: "[^\\s\\S]" }] },
  ],
  [
    "a default that zod fills",
    z.object({ a: z.boolean().default(true) }).prefault({}),
    { type: "object", properties: { a: { type: "boolean", default: true } }, default: { a: true } },
  ],
  [
    "a refinement with its rule",
    z
      .string()
      .refine((text) => text !== "a")
      .optional()
      .meta(cel({ rule: "self != 'a'", message: "not a" })),
    { type: "string", "x-kubernetes-validations": [{ rule: "self != 'a'", message: "not a" }] },
  ],
])("converts %s", (_, schema, expected) => {
  expect(converted(schema)).toEqual(expected);
});

interface Tree {
  readonly children?: readonly Tree[] | undefined;
}
const tree: z.ZodType<Tree> = z.lazy(() => z.object({ children: z.array(tree).optional() }));

test.each<[string, z.ZodType, string]>([
  ["strings or booleans", z.union([z.string(), z.boolean()]), "spec.field: a field has one type"],
  ["values of two types", z.literal(["a", true]), "spec.field: a | true has no type of the API"],
  ["a tuple of two types", z.tuple([z.string(), z.number()]), "spec.field: items of a tuple"],
  [
    "variants with different fields",
    z.union([z.object({ a: z.int() }), z.object({ b: z.int() })]),
    "add b: z.never().optional()",
  ],
  [
    "variants with different types",
    z.union([z.object({ a: z.int() }), z.object({ a: z.string() })]),
    "different types, defaults, or rules for a",
  ],
  ["a strict object", z.strictObject({}), "use z.object()"],
  ["an object with a catchall", z.object({}).catchall(z.string()), "z.record()"],
  ["an intersection", z.object({ a: z.int() }).and(z.object({ b: z.int() })), "{ ...A.shape, ...B.shape }"],
  ["a recursive schema", tree, "spec.field.children[]: the schema contains itself"],
  ["a transformation", z.array(z.string().transform(Number)), "spec.field[]: functions get the stored value"],
  ["preprocessing", z.preprocess(String, z.string()), "functions get the stored value"],
  ["coercion", z.coerce.number(), "without coerce"],
  ["trimming", z.string().trim(), "use a regex"],
  ["catch", z.string().catch("a"), ".optional() or .default(…)"],
  ["a date", z.date(), "z.iso.datetime()"],
  ["a bigint", z.bigint(), "z.int()"],
  ["a map", z.map(z.string(), z.string()), "z.record("],
  ["a set", z.set(z.string()), "z.array("],
  ["z.custom()", z.custom<string>(), "code does not define a type"],
  ["a refinement", z.object({ a: z.string().refine(Boolean) }), "spec.field.a: a refinement is code"],
  ["a superRefine", z.array(z.string()).superRefine(() => undefined), ".meta(cel("],
  ["a URL", z.url(), "z.string().regex("],
  ["IPv6", z.ipv6(), "z.string().regex(z.regexes.ipv6)"],
  ["a JWT", z.jwt(), "checked by code"],
  [
    "code with the name of a format",
    z.stringFormat("hostname", (text) => text === "a"),
    "spec.field: the format hostname is checked by code, not by a pattern: use z.string().regex(…)",
  ],
  ["code with the name of a check", z.stringFormat("url", () => true), "the format url is checked by code"],
  ["a global regex", z.stringFormat("hash", /^a$/g), "leave the flag out"],
  [
    "a regex that RE2 does not support",
    z.string().regex(/a(?=b)/),
    "spec.field: /a(?=b)/: the API server has no lookaround",
  ],
  ["multiples of fractions", z.number().multipleOf(0.1), "use z.int32() and a smaller unit"],
  ["multiples of large integers", z.int().multipleOf(2), "zod calculates multiples"],
  ["bounds that are too large", z.number().max(1e300), "leave it out"],
  ["float32", z.float32(), "z.number()"],
  ["keys of an enum", z.record(z.enum(["a"]), z.string()), "z.object() with optional fields"],
  [
    "rules for keys in a list",
    z.array(z.record(z.string().regex(/a/), z.string())),
    "spec.field[]: a rule for keys costs too much",
  ],
  [
    "rules for keys of records with unknown values",
    z.record(z.string().regex(/a/), z.unknown()),
    "give them a type",
  ],
  ["long rules for keys", z.record(z.string().regex(new RegExp("a".repeat(61))), z.string()), "(limit: 60, "],
  ["an invalid default", z.string().min(2).default("a"), 'the default "a" does not match its schema'],
  ["an incomplete default", z.object({ a: z.int().default(1) }).default({} as never), "use .prefault(…)"],
  ["a default of null", z.string().nullable().default(null), ".nullish()"],
  ["a pattern for the API server alone", z.string().meta({ pattern: "^a$" }), "use .regex(…)"],
  [
    "a misspelled keyword",
    z.string().meta({ "x-kubernetes-validation": [] }),
    "x-kubernetes-validation in .meta()",
  ],
  [
    "a list map with an optional key",
    z.array(z.object({ a: z.string().optional() })).meta(listMap("a")),
    'listMap("a")',
  ],
])("rejects %s, and names an alternative", (_, schema, problem) => {
  expect(problemsOf(schema)).toEqual([expect.stringContaining(problem)]);
});

test("names every field that cannot be converted", () => {
  const problems = problemsOf(z.object({ a: z.date(), b: z.array(z.bigint()), c: z.string() }));
  expect(problems.map((problem) => problem.split(":")[0])).toEqual(["spec.field.a", "spec.field.b[]"]);
});
