/** The words of the demo's song: random, but few enough that the demo ends soon. */
import { isOver, type Word } from "@denrei/functions/zundoko/song";
import { randomWord, wordsVariable } from "@denrei/functions/zundoko/words";

/** With the pause of the sample, so many words take ten seconds. */
export const mostWords = 20;

/** Draws random songs until one has at most {@link mostWords} words. `random` returns numbers from 0 to below 1. */
export function shortSong(random = Math.random): Word[] {
  for (;;) {
    const words = new Map<number, Word>();
    while (words.size < mostWords) {
      words.set(words.size + 1, randomWord(random));
      if (isOver(words)) return [...words.values()];
    }
  }
}

/** Makes workers say a short song, unless the user has chosen the words. */
export const shortSongVariables = (): Readonly<Record<string, string>> =>
  process.env[wordsVariable] ? {} : { [wordsVariable]: shortSong().join(",") };
