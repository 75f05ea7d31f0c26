import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { BriefMap } from "./briefmap.ts";
import { LinkedList } from "./linkedlist.ts";

test("BriefMap - has the values that were set and not deleted, by number", () => {
  const map = new BriefMap<string>();
  for (const id of [0, 1, 2, 10, 11]) map.set(id, `v${id}`);
  map.delete(1);
  map.delete(7);
  expect(map.get(10)).toBe("v10");
  expect([map.get(1), map.get(Number.NaN)]).toEqual([undefined, undefined]);
  expect(map.values()).toEqual(["v0", "v2", "v10", "v11"]);
});

/** Bytes that are in the old generation after many values have come and gone, with 50 of them at a time. */
function grown(add: (id: number, value: object) => void, remove: (id: number) => void): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const used = () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0;
  let before = 0;
  for (let id = 0; id < 100_000; id++) {
    add(id, { content: new Array(50).fill(id) });
    if (id >= 50) remove(id - 50);
    // Moves the current table to the old generation.
    if (id !== 1000) continue;
    collect();
    before = used();
  }
  return used() - before;
}

/** Less than a tenth of all values, and much less than what a `Map` keeps. Bytes. */
const few = 4e6;

test("BriefMap - keeps no deleted values in the old generation", () => {
  const map = new BriefMap<object>();
  const add = (id: number, value: object) => map.set(id, value);
  expect(grown(add, (id) => map.delete(id))).toBeLessThan(few);
});

test("LinkedList - keeps no removed values in the old generation", () => {
  const list = new LinkedList<object>();
  const nodes: ReturnType<typeof list.append>[] = [];
  const add = (_id: number, value: object): void => {
    nodes.push(list.append(value));
  };
  const remove = (): void => {
    const node = nodes.shift();
    if (node !== undefined) list.remove(node);
  };
  expect(grown(add, remove)).toBeLessThan(few);
});
