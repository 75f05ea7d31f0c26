/** Source of words: random, or a fixed list for benchmarks and demonstrations. */
import { ConfigError, z } from "denrei";
import type { Word } from "./song.ts";

/** Variable with a fixed list of words, such as `Doko,Zun,Zun,Zun,Zun,Doko`. The list repeats. */
export const wordsVariable = "DENREI_ZUNDOKO_WORDS";

/** The word for a number. */
export type WordSource = (number: number) => Word;

/** A word by chance. `random` returns numbers from 0 to below 1. */
export const randomWord = (random = Math.random): Word => (random() < 0.5 ? "Zun" : "Doko");

const listSchema = z
  .string()
  .transform((text) => text.split(",").map((word) => word.trim()))
  .pipe(z.array(z.enum(["Zun", "Doko"])).min(1));

/** Reads the variable. Throws a {@link ConfigError} when it contains anything but Zun and Doko. */
export function wordSource(env: Readonly<Record<string, string | undefined>>): WordSource {
  const text = env[wordsVariable];
  if (text === undefined || text === "") return () => randomWord();
  const list = listSchema.safeParse(text);
  if (!list.success) {
    throw new ConfigError(
      `expected ${wordsVariable} to be a comma-separated list of Zun and Doko, found "${text}"`,
    );
  }
  const words = list.data;
  return (number) => words[(number - 1) % words.length] as Word;
}
