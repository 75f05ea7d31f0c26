/** Random zod schemas, with values that match or almost match them. */
import { z } from "zod";
import { anyNumber, anyText, anything, mostly, type Next, pick, upTo } from "./randomvalues.ts";

/** A schema and a generator of values, many of which match. */
export interface RandomSchema {
  readonly schema: z.ZodType;
  readonly value: (next: Next) => unknown;
}

const regexes = [
  /^[a-z]+$/,
  /^[a-z]+$/i,
  /^é$/i,
  /^[à-ý]+$/i,
  /^(?:\u00b5|ß|ǆ)$/i,
  /b/,
  /^a.b$/su,
  /^.$/u,
  /^.{2}$/u,
  /^[^a]+$/,
  /^[^a]$/u,
  /^\S+$/,
  /^\s*$/,
  /^\w+$/,
  /^[\w-]+$/,
  /^\d{1,3}$/,
  /a|b/,
  /^(?:a|b)$/,
  /^(?=.*a).*$/su,
  /^(?!a)[a-z]*$/,
  /^(?=[a-z])(?!ab)\w+$/,
  /\bab\b/,
  /^[^\s/]+\/[^\s/]+$/u,
  /^[\u{1F600}-\u{1F64F}]+$/u,
  /^\u00e9$/,
  /^[é]$/,
  /\./,
  /^[[\]{}]+$/,
  /^[\s\S]{0,2}$/u,
  /^$/,
  /^a{2}b?/,
  /^(?<first>a)b*$/,
  /^[.-/]$/,
];
const formats: readonly (() => z.ZodType)[] = [
  () => z.email(),
  () => z.uuid(),
  () => z.guid(),
  () => z.ipv4(),
  () => z.cidrv4(),
  () => z.hostname(),
  () => z.iso.date(),
  () => z.iso.datetime(),
  () => z.iso.datetime({ offset: true, local: true }),
  () => z.iso.time(),
  () => z.iso.duration(),
  () => z.iso.duration({ pattern: /^P\d+[DW]$/ }),
  () => z.stringFormat("duration", /^\d+m?$/),
  () => z.stringFormat("hostname", z.regexes.hostname),
  () => z.stringFormat("base64", /^[a-z]+$/i),
  () => z.base64(),
  () => z.base64url(),
  () => z.hex(),
  () => z.mac(),
  () => z.e164(),
  () => z.nanoid(),
  () => z.ulid(),
  () => z.string().lowercase(),
  () => z.string().uppercase(),
  () => z.string().startsWith("a"),
  () => z.string().endsWith("."),
  () => z.string().includes("b"),
  () => z.templateLiteral(["a", z.enum(["-", "."]), z.string().regex(/^[a-z]+$/)]),
];

function randomString(next: Next): RandomSchema {
  if (next() < 0.35) return { schema: pick(next, formats)(), value: mostly(anyText) };
  let schema = z.string();
  if (next() < 0.4) schema = schema.min(upTo(next, 3));
  if (next() < 0.4) schema = schema.max(upTo(next, 4));
  for (let left = upTo(next, 2); left > 0; left--) schema = schema.regex(pick(next, regexes));
  return { schema, value: mostly(anyText) };
}

function randomNumber(next: Next): RandomSchema {
  let schema = pick<() => z.ZodNumber>(next, [
    z.number,
    z.int,
    z.int,
    z.int32,
    z.uint32,
    () => z.number().int(),
  ])();
  const bound = () => pick(next, [-1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 10]);
  if (next() < 0.4) schema = next() < 0.5 ? schema.min(bound()) : schema.gt(bound());
  if (next() < 0.4) schema = next() < 0.5 ? schema.max(bound()) : schema.lt(bound());
  if (next() < 0.3)
    schema = schema
      .min(-1e15)
      .max(1e15)
      .multipleOf(pick(next, [1, 2, 3]));
  return { schema, value: mostly(anyNumber) };
}

function randomValues(next: Next): RandomSchema {
  const values = pick<readonly (string | number | boolean | null)[]>(next, [
    ["a"],
    ["a", "b"],
    ["a", null],
    [1, 2],
    [1, 1.5],
    [0],
    [1, null],
    [true],
    [false, null],
    ["a", 1],
    ["a", 1, null],
    ["😀", ""],
  ]);
  return { schema: z.literal([...values]), value: mostly((random) => pick(random, values)) };
}

const names = ["a", "b", "c"];

function randomObject(next: Next, depth: number): RandomSchema {
  const fields = names
    .slice(0, 1 + upTo(next, 2))
    .map((name) => [name, randomField(next, depth - 1)] as const);
  const shape = Object.fromEntries(fields.map(([name, { schema }]) => [name, schema]));
  const isLoose = next() < 0.2;
  return {
    schema: isLoose ? z.looseObject(shape) : z.object(shape),
    value: mostly((random) => {
      const some = fields.filter(() => random() < 0.85).map(([name, { value }]) => [name, value(random)]);
      return Object.fromEntries([...some, ...(random() < 0.2 ? [["unknown", anything(random)]] : [])]);
    }),
  };
}

function randomVariants(next: Next, depth: number): RandomSchema {
  const tags = ["x", "y", "z"].slice(0, 2 + upTo(next, 1));
  const shared = randomSchema(next, 0);
  const variants = tags.map((tag) => {
    const own = Object.fromEntries(
      tags.map((other) => [other, other === tag ? randomSchema(next, Math.min(depth - 1, 1)) : undefined]),
    );
    const shape = Object.fromEntries(
      Object.entries(own).map(([name, field]) => [
        name,
        field === undefined ? z.never().optional() : field.schema,
      ]),
    );
    return {
      tag,
      own,
      schema: z.object({ tag: z.literal(tag), shared: shared.schema.optional(), ...shape }),
    };
  });
  const [first, ...others] = variants.map(({ schema }) => schema);
  return {
    schema:
      next() < 0.5
        ? z.union(variants.map(({ schema }) => schema))
        : z.discriminatedUnion("tag", [
            first as z.ZodObject<{ tag: z.ZodLiteral<string> }>,
            ...(others as never[]),
          ]),
    value: mostly((random) => {
      const { tag, own } = pick(random, variants);
      const entries = Object.entries(own).flatMap(([name, field]) =>
        field !== undefined && random() < 0.9
          ? [[name, field.value(random)]]
          : random() < 0.1
            ? [[name, anything(random)]]
            : [],
      );
      return {
        tag: random() < 0.9 ? tag : anything(random),
        ...Object.fromEntries(entries),
        ...(random() < 0.3 && { shared: shared.value(random) }),
      };
    }),
  };
}

function randomUnion(next: Next): RandomSchema {
  const make = pick<() => RandomSchema>(next, [
    () => randomString(next),
    () => randomNumber(next),
    () => randomValues(next),
  ]);
  const isMixed = next() < 0.4;
  const options = isMixed
    ? [
        { schema: z.int().min(0), value: anyNumber },
        randomString(next),
        ...(next() < 0.3 ? [randomValues(next)] : []),
      ]
    : [make(), make()];
  const schemas = options.map(({ schema }) => schema);
  return {
    schema: next() < 0.15 ? z.xor(schemas) : z.union(schemas),
    value: (random) => pick(random, options).value(random),
  };
}

function randomRecord(next: Next, depth: number): RandomSchema {
  const inner = randomSchema(next, depth - 1);
  const keys =
    next() < 0.5
      ? z.string()
      : z
          .string()
          .max(3)
          .regex(pick(next, [/^[a-z]+$/, /^(?!ab)/, /^[^a]$/u, /\./]));
  return {
    schema: z.record(keys, inner.schema),
    value: mostly((random) =>
      Object.fromEntries(
        Array.from({ length: upTo(random, 2) }, () => [anyText(random), inner.value(random)]),
      ),
    ),
  };
}

function randomArray(next: Next, depth: number): RandomSchema {
  const inner = randomSchema(next, depth - 1);
  let schema = z.array(inner.schema);
  if (next() < 0.4) schema = schema.min(upTo(next, 2));
  // Rules for keys cost too much in an unbounded list.
  schema = schema.max(1 + upTo(next, 2));
  const tuple = z.tuple([inner.schema, inner.schema]);
  return {
    schema: next() < 0.2 ? tuple : schema,
    value: mostly((random) => Array.from({ length: upTo(random, 3) }, () => inner.value(random))),
  };
}

/** A schema of some depth. Some have no equivalent, such as a union of different types. */
export function randomSchema(next: Next, depth: number): RandomSchema {
  const simple = [
    randomString,
    randomString,
    randomNumber,
    randomNumber,
    randomValues,
    randomUnion,
    () => boolean,
    () => unknown,
  ];
  const nested = [randomObject, randomObject, randomRecord, randomArray, randomVariants];
  if (depth <= 0 || next() < 0.4) return pick<(next: Next) => RandomSchema>(next, simple)(next);
  return pick(next, nested)(next, depth);
}

const boolean: RandomSchema = { schema: z.boolean(), value: mostly((next) => next() < 0.5) };
const unknown: RandomSchema = { schema: z.unknown(), value: anything };

/** A field schema: possibly optional, nullable, or with a matching default. */
export function randomField(next: Next, depth: number): RandomSchema {
  const field = randomSchema(next, depth);
  const how = pick(next, [
    "plain",
    "plain",
    "optional",
    "nullable",
    "nullish",
    "default",
    "prefault",
    "readonly",
    "lazy",
  ]);
  const { schema, value } = field;
  if (how === "optional") return { schema: schema.optional(), value };
  if (how === "nullable")
    return { schema: schema.nullable(), value: (random) => (random() < 0.2 ? null : value(random)) };
  if (how === "nullish")
    return { schema: schema.nullish(), value: (random) => (random() < 0.2 ? null : value(random)) };
  if (how === "readonly") return { schema: schema.readonly(), value };
  if (how === "lazy") return { schema: z.lazy(() => schema), value };
  if (how === "plain") return field;
  for (let left = 10; left > 0; left--) {
    const input = value(next);
    const parsed = schema.safeParse(input);
    if (!parsed.success || parsed.data === null || parsed.data === undefined) continue;
    return how === "default"
      ? { schema: schema.default(parsed.data as never), value }
      : { schema: schema.prefault(input as never), value };
  }
  return field;
}
