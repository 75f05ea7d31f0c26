import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { atTurnEnd, batchByTurn } from "./eventloop.ts";

test("atTurnEnd - runs once per turn, and again if the run plans another", async () => {
  let runs = 0;
  const plan = atTurnEnd(() => {
    runs++;
    if (runs === 1) plan();
  });
  plan();
  plan();
  expect(runs).toBe(0);
  await turn();
  expect(runs).toBe(1);
  await turn();
  expect(runs).toBe(2);
  await turn();
  expect(runs).toBe(2);
});

test("batchByTurn - passes on the items of each turn together", async () => {
  const batches: (readonly number[])[] = [];
  const add = batchByTurn<number>((items) => batches.push(items));
  add(1);
  add(2);
  await turn();
  add(3);
  await turn();
  expect(batches).toEqual([[1, 2], [3]]);
});
