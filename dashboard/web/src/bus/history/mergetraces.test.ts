import { expect, test } from "vitest";
import type { EventEntry } from "../../../../api/bus.ts";
import { mergeTraces } from "./mergetraces.ts";

const entry = (id: string, second: number): EventEntry => ({
  type: "event",
  id,
  at: new Date(second * 1000).toISOString(),
  severity: "Normal",
  reason: "Said",
  note: "",
  count: 1,
  reporter: "test",
});

const idsOf = (traces: ReturnType<typeof mergeTraces>) =>
  traces.map(({ trace, entries }) => [trace, entries.map(({ id }) => id).join("")]);

test("merges the parts of a trace and sorts its entries", () => {
  const newer = { traces: [{ trace: "x", entries: [entry("c", 3), entry("d", 4)] }] };
  const older = {
    traces: [
      { trace: "y", entries: [entry("a", 1)] },
      { trace: "x", entries: [entry("b", 2)] },
    ],
  };
  expect(idsOf(mergeTraces([newer, older]))).toEqual([
    ["x", "bcd"],
    ["y", "a"],
  ]);
});

test("removes duplicate entries", () => {
  const before = { traces: [{ trace: "x", entries: [entry("a", 1)] }] };
  const now = { traces: [{ trace: "x", entries: [entry("a", 1), entry("b", 2)] }] };
  expect(idsOf(mergeTraces([now, before]))).toEqual([["x", "ab"]]);
});

test("sorts traces by their last entry, newest first", () => {
  const traces = [
    { trace: "long", entries: [entry("a", 1), entry("d", 9)] },
    { trace: "short", entries: [entry("b", 2), entry("c", 3)] },
    { trace: null, entries: [entry("e", 5)] },
  ];
  expect(idsOf(mergeTraces([{ traces }])).map(([trace]) => trace)).toEqual(["long", null, "short"]);
});
