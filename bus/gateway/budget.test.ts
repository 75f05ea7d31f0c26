/** Memory for bodies: a body that holds it for long gives way to a new one. */
import { expect, test } from "vitest";
import { openBudget, type Room } from "./budget.ts";

const limits = { body: 1000, small: 100, allSmall: 300, allLarge: 1000 };
const grace = 10;

/** A budget whose clock stands still unless it is moved. */
function budget() {
  const clock = { now: 0 };
  const open = openBudget(limits, grace, () => clock.now);
  const taken: Room[] = [];
  const room = (): Room => {
    const opened = open();
    opened.onTaken = () => taken.push(opened);
    return opened;
  };
  return { clock, room, taken };
}

test("a body that holds its memory for longest gives way to a new one, once its grace is over", () => {
  const { clock, room, taken } = budget();
  const [a, b, c, late] = [room(), room(), room(), room()];
  for (const one of [a, b, c]) expect(one.grow(100)).toBe(true);
  clock.now = grace - 1;
  expect(late.grow(1)).toBe(false);
  clock.now = grace;
  const next = room();
  expect(next.grow(100)).toBe(true);
  expect(taken).toEqual([a]);
  const more = room();
  expect(more.grow(100)).toBe(true);
  expect(taken).toEqual([a, b]);
});

test("a complete body keeps its memory until it frees it", () => {
  const { clock, room, taken } = budget();
  const rooms = [room(), room(), room()];
  for (const one of rooms) {
    expect(one.grow(100)).toBe(true);
    one.keep();
  }
  clock.now = grace;
  const late = room();
  expect(late.grow(100)).toBe(false);
  expect(taken).toEqual([]);
  rooms[1]?.free();
  expect(late.grow(100)).toBe(true);
});

test("the oldest body does not displace younger ones", () => {
  const { clock, room, taken } = budget();
  const oldest = room();
  expect(oldest.grow(50)).toBe(true);
  clock.now = grace;
  for (const one of [room(), room()]) expect(one.grow(100)).toBe(true);
  clock.now = 2 * grace;
  const third = room();
  expect(third.grow(50)).toBe(true);
  expect(oldest.grow(60)).toBe(false);
  expect(taken).toEqual([]);
});

test("large bodies use their own share, and free what they took from the small one", () => {
  const { room, taken } = budget();
  const large = room();
  expect(large.grow(100)).toBe(true);
  expect(large.grow(1000)).toBe(true);
  expect(room().grow(101)).toBe(false);
  for (const one of [room(), room(), room()]) expect(one.grow(100)).toBe(true);
  expect(room().grow(1)).toBe(false);
  expect(taken).toEqual([]);
});

test("all memory is available again once it was freed, in any order", () => {
  const { clock, room } = budget();
  const rooms = Array.from({ length: 5 }, room);
  for (const [at, one] of rooms.entries()) {
    clock.now += grace;
    one.grow(10 + at);
    one.grow(90 + 10 * at);
  }
  for (const one of rooms.reverse()) {
    one.free();
    one.free();
  }
  const small = [room(), room(), room()];
  for (const one of small) expect(one.grow(100)).toBe(true);
  expect(room().grow(1000)).toBe(true);
});
