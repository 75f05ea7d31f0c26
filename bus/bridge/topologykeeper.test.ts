import { expect, test } from "vitest";
import { lossOf, type Objects } from "./topologykeeper.ts";

const stream = (count: number, { created = "2026-01-01T00:00:00Z", limited = false } = {}): Objects => ({
  created,
  count,
  limited,
});

test("topology keeper - objects that come, change and are deleted are not lost", () => {
  expect(lossOf(stream(4), stream(9), 4)).toBeUndefined();
  expect(lossOf(stream(4), stream(4), 4)).toBeUndefined();
  // What is deleted leaves a message for days.
  expect(lossOf(stream(1000), stream(600), 600)).toBeUndefined();
});

test("topology keeper - fewer messages than objects were purged, however few they are", () => {
  expect(lossOf(stream(4), stream(3), 4)).toBe("the stream of objects was purged");
  expect(lossOf(stream(0), stream(0), 1)).toBe("the stream of objects was purged");
});

test("topology keeper - objects of other replicas were purged when more than half of the messages are gone", () => {
  expect(lossOf(stream(1000), stream(499), 10)).toBe("the stream of objects was purged");
});

test("topology keeper - a full stream drops objects, which is no purge", () => {
  expect(lossOf(stream(4, { limited: true }), stream(3, { limited: true }), 4)).toBeUndefined();
});

test("topology keeper - a stream that was created again has nothing of the former one", () => {
  expect(lossOf(stream(4), stream(9, { created: "2026-01-02T00:00:00Z" }), 4)).toBe(
    "the stream of objects was created again",
  );
});
