/** The API server and zod agree on what fits a kind: on random schemas and values. DENREI_SEED repeats a run. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { crdOf } from "../../bus/kube/crd.ts";
import { isInvalid } from "../../bus/kube/errors.ts";
import { installCrds } from "../../bus/kube/install.ts";
import { checkObject, defineKind, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import type { Json } from "../../bus/kube/schema/place.ts";
import { structuralSchema } from "../../bus/kube/schema/structural.ts";
import { type Kit, startKit } from "../harness/kit.ts";
import { random } from "../harness/random.ts";
import { type RandomSchema, randomField } from "../harness/randomschemas.ts";
import { sized } from "../harness/size.ts";

let kit: Kit;
beforeAll(async () => {
  kit = await startKit({ crds: [] });
});
afterAll(() => kit?.stop());

const fieldsPerKind = 40;
const valuesPerField = sized(10, 40);

const fits = (schema: z.ZodType): boolean => {
  const problems: string[] = [];
  structuralSchema(schema, "spec", problems);
  return problems.length === 0;
};

/** Fields of random schemas; an object of the kind sets one of them at a time. */
function randomFields(next: () => number): Record<string, RandomSchema> {
  const fields: Record<string, RandomSchema> = {};
  let unfit = 0;
  for (let at = 0; at < fieldsPerKind; ) {
    const field = randomField(next, 3);
    if (!fits(z.object({ value: field.schema }))) unfit++;
    else fields[`f${at++}`] = field;
  }
  // Most of what is made has an equivalent.
  expect(unfit).toBeLessThan(fieldsPerKind);
  return fields;
}

/** What the API server takes out first: null where the schema does not allow it. */
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
    const object = await kit.client.request<KubeObject>({
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

/** What zod makes of it; undefined where it does not fit. */
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

const base = Number(process.env.DENREI_SEED ?? 1);
test.each(Array.from({ length: sized(1, 25) }, (_, at) => base + at))(
  "the API server accepts, prunes and defaults what zod does, with random schemas: seed %i",
  async (seed) => {
    const next = random(seed);
    const fields = randomFields(next);
    const kind = defineKind({
      group: "schemas.example.com",
      version: "v1",
      kind: `Random${seed}`,
      description: "Random fields.",
      spec: z.object(
        Object.fromEntries(
          Object.entries(fields).map(([name, { schema }]) => [name, z.object({ value: schema }).optional()]),
        ),
      ),
    });
    await installCrds(kit.client, [crdOf(kind)], {
      fieldManager: "test",
      signal: AbortSignal.timeout(60_000),
      lostFields: "drop",
    });
    let accepted = 0;
    for (const [name, field] of Object.entries(fields)) {
      const values = [undefined, null, ...Array.from({ length: valuesPerField }, () => field.value(next))];
      const outcomes = await Promise.all(
        values.map(async (value) => {
          const spec = { [name]: { value } };
          const [byServer, byZod] = [
            await stored(kind, spec),
            parsed(kind, JSON.parse(JSON.stringify(spec))),
          ];
          if (byZod !== undefined) accepted++;
          return { value, byServer, byZod };
        }),
      );
      const schema = JSON.stringify(kind.definition?.structural.spec.properties?.[name]);
      for (const { value, byServer, byZod } of outcomes)
        expect(byServer, `seed ${seed}, ${name}: ${JSON.stringify(value)}, with ${schema}`).toEqual(byZod);
    }
    // Neither all nor none: else nothing was compared.
    const share = accepted / (fieldsPerKind * (valuesPerField + 2));
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.8);
  },
);
