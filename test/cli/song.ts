/** A short song, and its words in the output of a demo. */
import { wordsVariable } from "../../functions/zundoko/words.ts";

/** The words of the song. */
export const words = ["Doko", "Zun", "Zun", "Zun", "Zun", "Doko"] as const;

/** Environment variables for these words. */
export const song = { [wordsVariable]: words.join(",") };

/** The printed words, each with its replica and object. */
export const said = (stdout: string): string[][] =>
  stdout
    .split("\n")
    .filter((line) => /^ {2}(Zun|Doko|Kiyoshi!) /.test(line))
    .map((line) => line.trim().split(/ +/));
