import { expect, test } from "vitest";
import { z } from "zod";
import { cel, crdOf } from "./crd.ts";
import { checkObject, defineKind, externalKind } from "./kind.ts";
import type { Stored } from "./object.ts";

const Sample = defineKind({
  group: "g.example.com",
  version: "v1",
  kind: "Sample",
  description: "A sample.",
  spec: z
    .object({
      count: z.int().min(1).meta({ format: "int32" }),
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

test("crd - the zod schema becomes a structural schema", () => {
  const spec = schema().properties.spec as Schema;
  expect(spec).toMatchObject({
    type: "object",
    required: ["count", "big"],
    "x-kubernetes-validations": [{ rule: "self.count < 10", message: "at most nine" }],
    properties: {
      count: { type: "integer", minimum: 1, format: "int32" },
      big: { type: "integer", format: "int64" },
      name: { type: "string", description: "A name." },
      labels: { type: "object", additionalProperties: { type: "string" } },
      list: { type: "array", items: { type: "object", properties: { on: { type: "boolean" } } } },
    },
  });
  expect(JSON.stringify(spec)).not.toMatch(
    /"additionalProperties":(true|false)|propertyNames|\$schema|9007199254740991/,
  );
});

test("crd - an external kind has none of ours", () => {
  expect(() => crdOf(externalKind({ group: "", version: "v1", kind: "Pod", plural: "pods" }))).toThrow(
    /external kind/,
  );
});

test("check - an object that does not fit is refused with each field's name", () => {
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
