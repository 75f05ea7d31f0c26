/** The API server and zod accept the same objects: tested with random schemas and values. DENREI_SEED repeats a run. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { cel, crdOf, listMap } from "../../bus/kube/crd.ts";
import { isInvalid } from "../../bus/kube/errors.ts";
import { installCrds } from "../../bus/kube/install.ts";
import { checkObject, defineKind, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import type { Json } from "../../bus/kube/schema/place.ts";
import { structuralSchema } from "../../bus/kube/schema/structural.ts";
import { startTestEnvironment, type TestEnvironment } from "../harness/environment.ts";
import { random } from "../harness/random.ts";
import { type RandomSchema, randomField } from "../harness/randomschemas.ts";
import { sized } from "../harness/size.ts";

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await startTestEnvironment({ crds: [] });
});
afterAll(() => environment?.stop());

const fieldsPerKind = 40;
const valuesPerField = sized(10, 40);

const fits = (schema: z.ZodType): boolean => {
  const problems: string[] = [];
  structuralSchema(schema, "spec", problems);
  return problems.length === 0;
};

/** Fields of random schemas; each object sets one of them. */
function randomFields(next: () => number): Record<string, RandomSchema> {
  const fields: Record<string, RandomSchema> = {};
  let unfit = 0;
  for (let at = 0; at < fieldsPerKind; ) {
    const field = randomField(next, 3);
    if (!fits(z.object({ value: field.schema }))) unfit++;
    else fields[`f${at++}`] = field;
  }
  // Most random schemas have an equivalent.
  expect(unfit).toBeLessThan(fieldsPerKind);
  return fields;
}

/** Applies the API server's pruning: null where the schema does not allow it. */
function withoutNull(value: unknown, schema: Json): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNull(item, (schema.items ?? {}) as Json));
  if (typeof value !== "object" || value === null) return value;
  const { properties = {}, additionalProperties } = schema as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly additionalProperties?: Json;
  };
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const field = properties[name] ?? additionalProperties;
      if (field === undefined) return [[name, inner]];
      return inner === null && field.nullable !== true ? [] : [[name, withoutNull(inner, field)]];
    }),
  );
}

async function stored(kind: Kind, spec: unknown): Promise<unknown> {
  const { group, version, plural } = kind;
  const body = { apiVersion: `${group}/${version}`, kind: kind.kind, metadata: { name: "x" }, spec };
  const path = `/apis/${group}/${version}/namespaces/default/${plural}`;
  try {
    const object = await environment.client.request<KubeObject>({
      method: "POST",
      path,
      query: { dryRun: "All" },
      body,
    });
    return object.spec;
  } catch (error) {
    if (!isInvalid(error)) throw error;
    return undefined;
  }
}

/** zod's result; undefined for an invalid value. */
function parsed(kind: Kind, spec: unknown): unknown {
  const { definition } = kind;
  const cleaned = withoutNull(spec, definition?.structural.spec ?? {});
  try {
    checkObject(kind, { kind: kind.kind, spec: cleaned } as unknown as Stored);
  } catch {
    return undefined;
  }
  return JSON.parse(JSON.stringify(definition?.spec.parse(cleaned)));
}

/** Installs a kind whose objects set one of the fields at a time. */
async function kindWith(name: string, schemas: Readonly<Record<string, z.ZodType>>): Promise<Kind> {
  const fields = Object.entries(schemas).map(([field, value]) => [field, z.object({ value }).optional()]);
  const kind = defineKind({
    group: "schemas.example.com",
    version: "v1",
    kind: name,
    description: "Fields.",
    spec: z.object(Object.fromEntries(fields)),
  });
  await installCrds(environment.client, [crdOf(kind)], {
    fieldManager: "test",
    signal: AbortSignal.timeout(60_000),
    lostFields: "drop",
  });
  return kind;
}

/** Compares the API server with zod; resolves with the number of valid values. */
async function accepted(kind: Kind, field: string, values: readonly unknown[]): Promise<number> {
  const outcomes = await Promise.all(
    values.map(async (value) => {
      const spec = JSON.parse(JSON.stringify({ [field]: { value } }));
      return { value, byServer: await stored(kind, spec), byZod: parsed(kind, spec) };
    }),
  );
  const schema = JSON.stringify(kind.definition?.structural.spec.properties?.[field]);
  for (const { value, byServer, byZod } of outcomes)
    expect(byServer, `${kind.kind}, ${field}: ${JSON.stringify(value)}, with ${schema}`).toEqual(byZod);
  return outcomes.filter(({ byZod }) => byZod !== undefined).length;
}

/** Where the API server differs from what a schema suggests. */
const pitfalls: Readonly<Record<string, readonly [schema: z.ZodType, values: readonly unknown[]]>> = {
  fractionBelow: [z.number().min(0.5), [0, 0.4, 0.5, 1]],
  fractionAbove: [z.number().max(-0.5), [0, -0.4, -0.5, -1]],
  exclusiveFraction: [z.number().gt(-0.5), [-1, -0.5, -0.4, 0]],
  exclusive: [z.int().gt(0.5).lt(3), [0, 1, 2, 3]],
  safe: [z.int(), [2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, -(2 ** 53), 1e300]],
  int32: [z.int32(), [2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1]],
  nullableEnum: [z.enum(["a"]).nullable(), ["a", null, "b"]],
  nullableNumber: [z.literal([1, 2.5, null]), [1, 2.5, null, 2, 1.5]],
  numberOrText: [z.literal(["a", 1]), ["a", 1, 97, "\u0001", 2, "b"]],
  nullableUnion: [z.union([z.string().min(2), z.enum(["a"])]).nullish(), ["a", "b", "bb", null, undefined]],
  notNullable: [z.string().optional(), ["a", null, undefined]],
  nullInList: [z.array(z.string()), [["a"], [null]]],
  unknown: [z.unknown(), [null, undefined, 1, "a", { a: null }]],
  numberOrName: [z.union([z.int().min(3), z.enum(["max"])]), [3, 2, "max", "min", 3.5, true, null, {}]],
  characters: [z.string().min(2).max(2), ["😀", "😀😀", "aa", "a"]],
  spaces: [z.string().regex(/^\s$/), [" ", "\u00a0", "\ufeff", "\u2028", "a"]],
  lineEnds: [z.string().regex(/^.$/u), ["a", "😀", "\n", "\r", "\u2028"]],
  anyCase: [z.string().regex(/^[k-s]+$/i), ["k", "S", "\u212a", "\u017f"]],
  anyCaseBeyondAscii: [
    z.string().regex(/^(?:é|ß|\u00b5|[ǆ])$/i),
    ["é", "É", "ß", "ẞ", "ss", "\u03bc", "ǅ", "e"],
  ],
  lookahead: [z.string().regex(/^(?=.*a)(?!b).*$/u), ["a", "ca", "ba", "c"]],
  ownFormat: [z.stringFormat("duration", /^\d+[smh]$/), ["10s", "P1D"]],
  ownPattern: [z.iso.duration({ pattern: /^P\d+D$/ }), ["P1D", "PT1H"]],
  hostname: [z.hostname(), ["a", "-a", "a.b", "a.b.", "a_b", `${"a.".repeat(126)}a`, `${"a.".repeat(127)}a`]],
  keys: [
    z.record(
      z
        .string()
        .max(2)
        .regex(/^[a-z]+$/),
      z.int(),
    ),
    [{}, { a: 1 }, { A: 1 }, { aaa: 1 }],
  ],
  loose: [z.looseObject({ a: z.int() }), [{ a: 1, b: { c: null } }, { b: 1 }]],
  pruned: [z.object({ a: z.object({ b: z.int().optional() }) }), [{ a: { b: 1, c: 1 }, d: 1 }, { a: 1 }]],
  defaults: [z.object({ a: z.int().default(1) }).prefault({}), [undefined, {}, { a: 2 }]],
  variants: [
    z.discriminatedUnion("type", [
      z.object({ type: z.literal("a"), a: z.string(), b: z.never().optional() }),
      z.object({ type: z.literal("b"), a: z.never().optional(), b: z.int().optional() }),
    ]),
    [
      { type: "a", a: "x" },
      { type: "a" },
      { type: "a", a: "x", b: 1 },
      { type: "b", b: 1 },
      { type: "c" },
      { type: "b", c: 1 },
    ],
  ],
};

test("the API server accepts, prunes, and defaults like zod, where schemas have pitfalls", async () => {
  const schemas = Object.fromEntries(Object.entries(pitfalls).map(([name, [schema]]) => [name, schema]));
  const kind = await kindWith("Pitfall", schemas);
  for (const [name, [, values]] of Object.entries(pitfalls))
    expect(await accepted(kind, name, values), name).toBeGreaterThan(0);
});

/** Values that zod accepts and metadata makes the API server reject, next to one that both accept. */
const stricter: Readonly<Record<string, readonly [schema: z.ZodType, fits: unknown, refused: unknown]>> = {
  rule: [z.string().meta(cel({ rule: "self != 'a'", message: "not a" })), "b", "a"],
  set: [z.array(z.string()).meta({ "x-kubernetes-list-type": "set" }), ["a", "b"], ["a", "a"]],
  map: [
    z.array(z.object({ name: z.string() })).meta(listMap("name")),
    [{ name: "a" }],
    [{ name: "a" }, { name: "a" }],
  ],
};

test("rules and list types in metadata make the API server stricter than zod", async () => {
  const schemas = Object.fromEntries(Object.entries(stricter).map(([name, [schema]]) => [name, schema]));
  const kind = await kindWith("Stricter", schemas);
  for (const [name, [, fit, refused]] of Object.entries(stricter)) {
    expect(await accepted(kind, name, [fit]), name).toBe(1);
    const spec = { [name]: { value: refused } };
    expect([await stored(kind, spec), parsed(kind, spec)], name).toEqual([undefined, spec]);
  }
});

const base = Number(process.env.DENREI_SEED ?? 1);
test.each(Array.from({ length: sized(1, 25) }, (_, at) => base + at))(
  "the API server accepts, prunes, and defaults like zod, with random schemas: seed %i",
  async (seed) => {
    const next = random(seed);
    const fields = randomFields(next);
    const schemas = Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));
    const kind = await kindWith(`Random${seed}`, schemas);
    let fit = 0;
    for (const [name, field] of Object.entries(fields)) {
      const values = Array.from({ length: valuesPerField }, () => field.value(next));
      fit += await accepted(kind, name, [undefined, null, ...values]);
    }
    // Neither all nor none; otherwise nothing was compared.
    const share = fit / (fieldsPerKind * (valuesPerField + 2));
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.8);
  },
);
