import fc from "fast-check";
import { expect, test } from "vitest";
import { isOver, lastNumber, nextStep, type Word, wordOfEnding } from "./song.ts";

const word = fc.constantFrom<Word>("Zun", "Doko");
const song = (...words: Word[]): Map<number, Word> => new Map(words.map((one, at) => [at + 1, one]));
const Z = "Zun";
const D = "Doko";

test.each([
  [[Z, Z, Z, Z, D], true],
  [[D, Z, Z, Z, Z, D], true],
  [[Z, Z, Z, Z, Z, D], false],
  [[Z, Z, Z, D], false],
  [[Z, Z, Z, Z], false],
  [[], false],
] as [Word[], boolean][])("%j is over: %s", (words, over) => {
  expect(isOver(song(...words))).toBe(over);
});

test("ends exactly when the song is over, for any words", () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 60 }), (drawn) => {
      const words = new Map<number, Word>();
      for (const [at, next] of drawn.entries()) {
        const step = nextStep({ words, count: words.size, timeForKiyoshi: false });
        if (step.do === "announce") {
          expect(isOver(words)).toBe(true);
          return;
        }
        expect(step).toEqual({ do: "say", number: at + 1 });
        expect(isOver(words)).toBe(false);
        words.set(at + 1, next);
      }
    }),
  );
});

test("fills missing numbers in ascending order", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      fc.nat(45),
      (numbers, count) => {
        const words = new Map(numbers.map((number) => [number, Z as Word]));
        const last = Math.max(count, lastNumber(words));
        const missing = Array.from({ length: last }, (_, at) => at + 1).find((number) => !words.has(number));
        const step = nextStep({ words, count, timeForKiyoshi: true });
        expect(step).toEqual(missing === undefined ? { do: "kiyoshi" } : { do: "say", number: missing });
      },
    ),
  );
});

test("orders numbers numerically: the 1000th word comes after the 999th", () => {
  const words = new Map<number, Word>(Array.from({ length: 1000 }, (_, at) => [at + 1, D as Word]));
  expect(nextStep({ words, count: 1000, timeForKiyoshi: false })).toEqual({ do: "say", number: 1001 });
});

test("restores a lost word of an ending", () => {
  const words = song(D, Z, Z, Z, Z, D);
  for (const [number, before] of words) expect(wordOfEnding(number, 6)).toBe(before);
  expect(wordOfEnding(1, 7)).toBeUndefined();
});
