import { expect, test } from "vitest";
import { RecentChanges } from "./reread.ts";

/** Changes at these seconds; the bus has ten messages more at each. */
function changesAt(...seconds: number[]) {
  let now = 0;
  const recent = new RecentChanges(() => now);
  seconds.forEach((at, index) => {
    now = at * 1000;
    recent.note(10 * index);
  });
  return {
    recent,
    after: (second: number, end: "early" | "scheduled") => {
      now = second * 1000;
      return recent.doubtfulAfter(end);
    },
  };
}

test("recent changes - a watch that ended early leaves those of two minutes", () => {
  const { after } = changesAt(0, 100, 200, 201);
  expect(after(202, "early")).toBe(10);
  expect(after(310, "early")).toBe(20);
  expect(after(400, "early")).toBeUndefined();
});

test("recent changes - a watch that ended as scheduled leaves those of its last seconds", () => {
  const { after } = changesAt(0, 10, 20);
  expect(after(22, "scheduled")).toBe(20);
  expect(after(25, "scheduled")).toBeUndefined();
});

test("recent changes - one of the same second is covered by the first", () => {
  const { after } = changesAt(0, 10, 10.5, 10.9, 11.5);
  expect(after(13.9, "scheduled")).toBe(10);
});

test("recent changes - what was read again is not doubtful", () => {
  const { recent, after } = changesAt(0, 1);
  recent.clear();
  expect(after(1, "early")).toBeUndefined();
});
