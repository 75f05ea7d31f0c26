import { expect, test } from "vitest";
import { summary, withoutMiddle } from "./songsteps.ts";

const rows = (count: number) => Array.from({ length: count }, (_, at) => String(at + 1));

test("omits the middle of a long table", () => {
  expect(withoutMiddle(rows(132))).toEqual([
    "1",
    "2",
    "3",
    "(123 more)",
    "127",
    "128",
    "129",
    "130",
    "131",
    "132",
  ]);
});

test("does not replace a single row by a note", () => {
  expect(withoutMiddle(rows(10))).toEqual(rows(10));
  expect(withoutMiddle([])).toEqual([]);
});

test("summarizes a song in one line, with the words of each replica", () => {
  const word = (replica: string) => ({ song: "uid", say: "Zun", replica, name: "song-zundoko-001" });
  const words = ["worker-10", "worker-2", "worker-2", "worker-10", "worker-2"].map(word);
  const kiyoshi = { ...word("worker-2"), say: "Kiyoshi!" };
  expect(summary({ uid: "uid", name: "song", words, kiyoshi })).toBe(
    "song: Kiyoshi! after 5 words (worker-2 3, worker-10 2)",
  );
});
