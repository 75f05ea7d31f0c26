import fc from "fast-check";
import { expect, test } from "vitest";
import { sampleRing } from "./samplering.ts";

test("keeps the last steps, and knows nothing of skipped, overwritten, and future ones", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.record({ step: fc.nat(60), value: fc.nat(1000) }), {
        selector: ({ step }) => step,
        maxLength: 40,
      }),
      fc.integer({ min: 1, max: 20 }),
      (samples, length) => {
        const ring = sampleRing(["count"], length);
        const inOrder = samples.toSorted((a, b) => a.step - b.step);
        for (const { step, value } of inOrder) ring.put(step, { count: value });
        const lastOf = (slot: number) => inOrder.findLast(({ step }) => step % length === slot);
        const expected = Array.from({ length: 61 }, (_, step) => {
          const kept = lastOf(step % length);
          return kept?.step === step ? kept.value : null;
        });
        expect(ring.read("count", 0, 60)).toEqual(expected);
      },
    ),
  );
});

test("distinguishes a value that is unknown from 0", () => {
  const ring = sampleRing(["count", "p99"], 10);
  ring.put(4, { count: 0 });
  expect([ring.read("count", 3, 5), ring.read("p99", 3, 5)]).toEqual([
    [null, 0, null],
    [null, null, null],
  ]);
  expect(ring.read("count", 5, 4)).toEqual([]);
});

test("its memory depends only on its size", () => {
  const ring = sampleRing(["count", "p99"], 100);
  const { bytes } = ring;
  for (let step = 0; step < 10_000; step++) ring.put(step, { count: step });
  expect([bytes, ring.bytes]).toEqual([1600, 1600]);
});
