import { expect, test } from "vitest";
import { brake } from "./brake.ts";

const limits = { reconciles: 3, timers: 5, windowMillis: 100, pauseMillis: 50 };
const key = { namespace: "n", name: "a" };

function withClock() {
  let time = 0;
  return { brake: brake(limits, () => time), pass: (millis: number) => (time += millis) };
}

test("brake - lets a key pass that wrote fewer times than the limit, or more slowly", () => {
  const { brake, pass } = withClock();
  for (let i = 0; i < 10; i++) {
    expect(brake.pause(key, "event")).toBe(0);
    brake.note(key, "event");
    pass(60);
  }
});

test("brake - allows more reconciles by timers than by events, and counts them apart", () => {
  const { brake } = withClock();
  for (let i = 0; i < 4; i++) brake.note(key, "timer");
  expect(brake.pause(key, "timer")).toBe(0);
  brake.note(key, "timer");
  expect([brake.pause(key, "timer"), brake.pause(key, "event")]).toEqual([50, 0]);
});

test("brake - holds a hot key until a fixed time, however many events arrive meanwhile", () => {
  const { brake, pass } = withClock();
  for (let i = 0; i < 3; i++) brake.note(key, "event");
  expect(brake.pause(key, "event")).toBe(50);
  pass(20);
  expect(brake.pause(key, "event")).toBe(30);
  expect(brake.pause({ namespace: "n", name: "other" }, "event")).toBe(0);
  pass(90);
  expect(brake.pause(key, "event")).toBe(0);
});

test("brake - timers that fire earlier than requested have the limit of events", () => {
  const { brake, pass } = withClock();
  for (let i = 0; i < 3; i++) {
    expect(brake.pause(key, "timer")).toBe(0);
    brake.note(key, "timer", 1000);
    pass(1);
  }
  expect(brake.pause(key, "timer")).toBe(50);
});
