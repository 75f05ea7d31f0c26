/** The song as a state machine: from what was said to what comes next. Pure. */

/** The two words. */
export type Word = "Zun" | "Doko";

const ending: readonly Word[] = ["Zun", "Zun", "Zun", "Zun", "Doko"];

/** What is known of a song. Words are numbered from 1, in the order they were said. */
export interface Song {
  readonly words: ReadonlyMap<number, Word>;
  /** How many words are wanted so far. */
  readonly wanted: number;
  readonly timeForKiyoshi: boolean;
}

/** What comes next. */
export type Step =
  | { readonly do: "say"; readonly number: number }
  | { readonly do: "announce" }
  | { readonly do: "kiyoshi" };

/** The number of the last word, 0 before the first. */
export const lastNumber = (words: ReadonlyMap<number, Word>): number => Math.max(0, ...words.keys());

/** The last five words are Zun, Zun, Zun, Zun, Doko, and the one before them, if there is one, is not Zun. */
export function isOver(words: ReadonlyMap<number, Word>): boolean {
  const last = lastNumber(words);
  const first = last - ending.length;
  return ending.every((word, at) => words.get(first + 1 + at) === word) && words.get(first) !== "Zun";
}

/** The next step: fill what is missing, end the song when it is over, else say one word more. */
export function nextStep({ words, wanted, timeForKiyoshi }: Song): Step {
  const last = Math.max(wanted, lastNumber(words));
  for (let number = 1; number <= last; number++) if (!words.has(number)) return { do: "say", number };
  if (timeForKiyoshi) return { do: "kiyoshi" };
  if (isOver(words)) return { do: "announce" };
  return { do: "say", number: last + 1 };
}

/** The word that belongs at a number of a song that has ended, or undefined where any word may stand. */
export function wordOfEnding(number: number, last: number): Word | undefined {
  if (number === last - ending.length) return "Doko";
  return ending[number - (last - ending.length) - 1];
}
