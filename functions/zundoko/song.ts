/** The song as a state machine that maps the words so far to the next step. Pure. */

/** The two words. */
export type Word = "Zun" | "Doko";

const ending: readonly Word[] = ["Zun", "Zun", "Zun", "Zun", "Doko"];

/** State of a song. Words are numbered from 1, in their order. */
export interface Song {
  readonly words: ReadonlyMap<number, Word>;
  /** Number of words so far, as the spec records it. */
  readonly count: number;
  readonly timeForKiyoshi: boolean;
}

export type Step =
  | { readonly do: "say"; readonly number: number }
  | { readonly do: "announce" }
  | { readonly do: "kiyoshi" };

/** The number of the last word, 0 before the first. */
export const lastNumber = (words: ReadonlyMap<number, Word>): number => Math.max(0, ...words.keys());

/** Whether the last five words are Zun, Zun, Zun, Zun, Doko, and any word before them is not Zun. */
export function isOver(words: ReadonlyMap<number, Word>): boolean {
  const last = lastNumber(words);
  const first = last - ending.length;
  return ending.every((word, at) => words.get(first + 1 + at) === word) && words.get(first) !== "Zun";
}

/** The next step: say a missing word, end a finished song, or say one more word. */
export function nextStep({ words, count, timeForKiyoshi }: Song): Step {
  const last = Math.max(count, lastNumber(words));
  for (let number = 1; number <= last; number++) if (!words.has(number)) return { do: "say", number };
  if (timeForKiyoshi) return { do: "kiyoshi" };
  if (isOver(words)) return { do: "announce" };
  return { do: "say", number: last + 1 };
}

/** The word at a number of a finished song, or undefined where any word is allowed. */
export function wordOfEnding(number: number, last: number): Word | undefined {
  if (number === last - ending.length) return "Doko";
  return ending[number - (last - ending.length) - 1];
}
