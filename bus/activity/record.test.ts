import fc from "fast-check";
import { expect, test } from "vitest";
import { maxActivityRecordBytes } from "../topology/streams.ts";
import { activityIn, type EndedReconcile, keptWrites, outcomes, recordText } from "./record.ts";

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme", maxLength: 400 }),
  fc.constant("x".repeat(253)),
);
const cause = fc.oneof(
  fc.record({
    type: fc.constant("object" as const),
    ...{ group: text, kind: text, namespace: text, name: text, uid: text, resourceVersion: text },
  }),
  fc.record({ type: fc.constant("webhook" as const), provider: text, event: text, delivery: text }),
  fc.record({ type: fc.constantFrom("timer" as const, "replay" as const) }),
);
const write = fc.record({
  verb: fc.constantFrom(
    "create" as const,
    "patch" as const,
    "apply" as const,
    "delete" as const,
    "status" as const,
  ),
  ...{ group: text, kind: text, namespace: text, name: text, resourceVersion: text },
});
const millis = fc.nat();
const ended: fc.Arbitrary<EndedReconcile> = fc
  .record({
    ...{
      replica: fc.string({ maxLength: 63 }),
      group: fc.string({ maxLength: 63 }),
      kind: fc.string({ maxLength: 63 }),
    },
    causes: fc.array(cause, { minLength: 1, maxLength: 12 }),
    ...{
      attempt: fc.nat(20),
      startedAt: millis,
      waitedMillis: millis,
      tookMillis: millis,
      nextInMillis: millis,
    },
    outcome: fc.constantFrom(...outcomes),
    error: fc.record({ name: text, message: text }),
    writes: fc.array(write, { maxLength: keptWrites }),
    more: fc.nat(100),
    traceparent: fc.constant(`00-${"a".repeat(32)}-${"b".repeat(16)}-01`),
  })
  .map(({ more, ...facts }) => ({ ...facts, writeCount: facts.writes.length + more }));

test("a record fits into the stream, is read back unchanged, and counts the writes and causes that it omits", () => {
  fc.assert(
    fc.property(ended, (one) => {
      const line = recordText(one);
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(maxActivityRecordBytes);
      const read = activityIn(line);
      expect(read).toMatchObject({
        outcome: one.outcome,
        traceparent: one.traceparent,
        attempt: one.attempt,
      });
      if (read === undefined) return;
      expect(read.writes).toEqual(one.writes.slice(0, read.writes.length));
      expect(read.writes.length + read.moreWrites).toBe(one.writeCount);
      expect(read.causes).toEqual(one.causes.slice(0, read.causes.length));
      expect(read.causes.length + read.moreCauses).toBe(one.causes.length);
    }),
  );
});

const plain: EndedReconcile = {
  ...{ replica: "worker-1", group: "g", kind: "Thing", attempt: 0, outcome: "success" },
  ...{ startedAt: 1, waitedMillis: 2, tookMillis: 3, causes: [{ type: "timer" }], writes: [], writeCount: 0 },
  traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
};

test("a short record lists all writes and causes", () => {
  const named = {
    verb: "create",
    group: "",
    kind: "Pod",
    namespace: "a",
    name: "b",
    resourceVersion: "7",
  } as const;
  const writes = Array.from({ length: keptWrites }, () => named);
  const read = activityIn(recordText({ ...plain, writes, writeCount: keptWrites }));
  expect(read).toMatchObject({ writes, moreWrites: 0, moreCauses: 0, causes: plain.causes });
});

test("a long error message ends with an ellipsis", () => {
  const { error } =
    activityIn(recordText({ ...plain, error: { name: "Error", message: "m".repeat(5000) } })) ?? {};
  expect(error?.message).toMatch(/^m{299}…$/);
});

test("reads the known fields of a record from another version, and rejects invalid records", () => {
  const line = JSON.parse(recordText(plain));
  expect(activityIn(JSON.stringify({ ...line, weather: "fine" }))).toMatchObject({ outcome: "success" });
  expect(activityIn(JSON.stringify({ ...line, causes: [{ type: "moon" }] }))?.causes).toEqual([
    { type: "replay" },
  ]);
  expect(activityIn(JSON.stringify({ ...line, outcome: "unheard of" }))).toBeUndefined();
  expect(activityIn("")).toBeUndefined();
});

test("redacts credentials in the error message, even where the message is cut", () => {
  const message = `${"m".repeat(290)} ghs_abcdefghijklmnop`;
  const { error } = activityIn(recordText({ ...plain, error: { name: "Error", message } })) ?? {};
  expect(error?.message).toBe(`${"m".repeat(290)} ***`);
});
