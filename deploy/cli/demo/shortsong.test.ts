import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { isOver, type Word } from "../../../functions/zundoko/song.ts";
import { mostWords, shortSong } from "./shortsong.ts";
import { sampleFile } from "./songsteps.ts";

/** Numbers that a stream of coin tosses determines. */
const randomOf = (coins: fc.Stream<boolean>) => () => (coins.next().value ? 0.75 : 0.25);

const song = (words: readonly Word[]) => new Map(words.map((word, at) => [at + 1, word]));

test("a short song ends with its last word, and not before, after at most 20 words", () => {
  fc.assert(
    fc.property(fc.infiniteStream(fc.boolean()), (coins) => {
      const words = shortSong(randomOf(coins));
      expect(words.length).toBeLessThanOrEqual(20);
      expect(isOver(song(words))).toBe(true);
      for (let count = 1; count < words.length; count++)
        expect(isOver(song(words.slice(0, count)))).toBe(false);
    }),
  );
});

test("short songs differ in their words and in their length", () => {
  const songs = Array.from({ length: 200 }, () => shortSong());
  expect(new Set(songs.map((words) => words.join())).size).toBeGreaterThan(20);
  expect(new Set(songs.map((words) => words.length)).size).toBeGreaterThan(5);
});

test("the pauses of the longest one take ten seconds", async () => {
  const { spec } = parse(await readFile(sampleFile, "utf8"));
  expect(mostWords * spec.intervalMillis).toBe(10_000);
});
