import { expect, test } from "vitest";
import { z } from "zod";
import { defineKind } from "../../bus/kube/kind.ts";
import { Parcel } from "../fixtures/functions/parcels.ts";
import { conversionProblems } from "./conversions.ts";

test("finds no problem in conversions that work", () => {
  const samples = [
    { version: "v1alpha1", spec: { to: "Kyoto", items: ["tea"], fragile: true }, status: { sent: true } },
    { version: "v1", spec: { to: { city: "Nara", street: "x" }, items: [] }, status: { phase: "Lost" } },
  ];
  expect(conversionProblems(Parcel, samples)).toEqual([]);
});

test("reports conversions that throw, and results that do not match their schema", () => {
  const Wrong = defineKind({
    group: "test.denrei.dev",
    kind: "Wrong",
    description: "",
    storage: "v1",
    versions: {
      v1alpha1: {
        spec: z.object({ size: z.int() }),
        upgrade({ spec }) {
          if (spec.size === 0) throw new Error("nothing to upgrade");
          return { spec: { size: `${spec.size}` } };
        },
        downgrade: ({ spec }) => ({ spec: { size: Number(spec.size) } }),
      },
      v1: { spec: z.object({ size: z.string().max(2) }) },
    },
  });
  const of = (size: number) => conversionProblems(Wrong, [{ version: "v1alpha1", spec: { size } }]);
  expect(of(7)).toEqual([]);
  expect(of(0)).toEqual([expect.stringMatching(/^\{"size":0\} from v1alpha1 to v1: .*nothing to upgrade$/)]);
  expect(of(1000)).toEqual([expect.stringContaining("the spec does not match its schema")]);
  expect(conversionProblems(Wrong, [{ version: "v2", spec: {} }])).not.toEqual([]);
});
