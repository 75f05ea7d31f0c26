import { expect, test } from "vitest";
import { z } from "zod";
import { cel, crdOf } from "./crd.ts";
import { checkObject, defineKind, externalKind } from "./kind.ts";
import { UnsupportedSchemaError } from "./kindversions.ts";
import type { Stored } from "./object.ts";

const Sample = defineKind({
  group: "g.example.com",
  version: "v1",
  kind: "Sample",
  description: "A sample.",
  spec: z
    .object({
      count: z.int32().min(1),
      big: z.int(),
      name: z.string().optional().describe("A name."),
      labels: z.record(z.string(), z.string()).optional(),
      list: z.array(z.object({ on: z.boolean() })).optional(),
    })
    .meta(cel({ rule: "self.count < 10", message: "at most nine" })),
});
type Schema = { properties: Record<string, Schema>; [key: string]: unknown };
const schema = () =>
  (crdOf(Sample) as { spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } }).spec.versions[0]
    ?.schema.openAPIV3Schema as Schema;

test("crd - converts the zod schema to a structural schema", () => {
  const spec = schema().properties.spec as Schema;
  expect(spec).toMatchObject({
    type: "object",
    required: ["count", "big"],
    "x-kubernetes-validations": [{ rule: "self.count < 10", message: "at most nine" }],
    properties: {
      count: { type: "integer", minimum: 1, format: "int32" },
      big: { type: "integer", format: "int64", maximum: Number.MAX_SAFE_INTEGER },
      name: { type: "string", description: "A name." },
      labels: { type: "object", additionalProperties: { type: "string" } },
      list: { type: "array", items: { type: "object", properties: { on: { type: "boolean" } } } },
    },
  });
  expect(JSON.stringify(spec)).not.toMatch(/"additionalProperties":(true|false)|propertyNames|\$schema/);
});

test("defineKind - rejects a schema that the API server cannot check, and names each field", () => {
  const spec = z.object({ when: z.date(), who: z.object({ name: z.string().trim() }) });
  const define = () =>
    defineKind({
      group: "g.example.com",
      version: "v1",
      kind: "Wrong",
      description: "",
      spec,
      status: z.object({ at: z.date() }),
    });
  expect(define).toThrow(UnsupportedSchemaError);
  expect(define).toThrow(
    /^the schema of Wrong\.g\.example\.com .*\n {2}spec\.when: .*\n {2}spec\.who\.name: .*\n {2}status\.at: /,
  );
});

test("crd - throws for an external kind", () => {
  expect(() => crdOf(externalKind({ group: "", version: "v1", kind: "Pod", plural: "pods" }))).toThrow(
    /external kind/,
  );
});

test("check - rejects an invalid object and names each field", () => {
  const object = {
    apiVersion: "g.example.com/v1",
    kind: "Sample",
    metadata: {},
    spec: { count: 0, big: "x" },
  };
  expect(() => checkObject(Sample, object as unknown as Stored<never>)).toThrow(
    /spec\.count: .*; spec\.big: /,
  );
});
