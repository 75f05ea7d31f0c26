import type { Stored } from "denrei/kinds";
import { expect, test } from "vitest";
import type { EventObject } from "../api/kubernetes.ts";
import { countOf, newestEvents } from "./eventorder.ts";

const event = (name: string, times: Partial<EventObject>) =>
  ({ metadata: { name, creationTimestamp: "2026-01-01T00:00:00Z" }, ...times }) as Stored<EventObject>;

test("events are newest first, whatever the precision and the field of their time", () => {
  const events = [
    event("created", {}),
    event("micros", { eventTime: "2026-01-01T00:00:10.900000Z" }),
    event("seconds", { deprecatedLastTimestamp: "2026-01-01T00:00:11Z" }),
    event("series", {
      eventTime: "2026-01-01T00:00:05.000000Z",
      series: { count: 3, lastObservedTime: "2026-01-01T00:00:11.500000Z" },
    }),
    event("zero", { eventTime: "2026-01-01T00:00:10Z" }),
  ];
  const before = [...events];
  expect(newestEvents(events).map(({ metadata }) => metadata.name)).toEqual([
    "series",
    "seconds",
    "micros",
    "zero",
    "created",
  ]);
  expect(events).toEqual(before);
});

test("the count is that of the series, or of the older API", () => {
  expect(countOf(event("once", {}))).toBe(1);
  expect(countOf(event("series", { series: { count: 3 } }))).toBe(3);
  expect(countOf(event("old", { deprecatedCount: 7 }))).toBe(7);
});
