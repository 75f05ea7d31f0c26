/** A song that is short, and reading it off a demo. */
import { wordsVariable } from "../../functions/zundoko/words.ts";

/** The words that the replicas are to say. */
export const words = ["Doko", "Zun", "Zun", "Zun", "Zun", "Doko"] as const;

/** The environment that makes them. */
export const song = { [wordsVariable]: words.join(",") };

/** What was said: the word, who said it, and its object. */
export const said = (stdout: string): string[][] =>
  stdout
    .split("\n")
    .filter((line) => /^ {2}(Zun|Doko|Kiyoshi!) /.test(line))
    .map((line) => line.trim().split(/ +/));
