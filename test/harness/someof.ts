/** An option of a command that takes several names. */
import { InvalidArgumentError } from "commander";

/** Returns a parser of some of the known names, separated by commas. It throws an `InvalidArgumentError` for another one. */
export const someOf =
  <T extends string>(known: readonly T[]) =>
  (text: string): readonly T[] =>
    text.split(",").map((name) => {
      const found = known.find((one) => one === name.trim());
      if (found === undefined) throw new InvalidArgumentError(`expected some of ${known.join(",")}.`);
      return found;
    });
