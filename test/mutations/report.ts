/** Formats results for the user. */
import type { Mutation } from "./mutation.ts";
import type { Result } from "./trial.ts";

const words: Readonly<Record<Result["outcome"], string>> = {
  caught: "caught  ",
  survived: "SURVIVED",
  "not applicable": "n/a     ",
  error: "ERROR   ",
};

/** A line for a result; more lines where the user has to act. */
export function resultLine(
  { area, name, outcome, by, file, millis }: Result,
  { breaks, tests }: Pick<Mutation, "breaks" | "tests">,
): string {
  const seconds = `${(millis / 1000).toFixed(1)} s`;
  const what = `${words[outcome]}  ${area}/${name}`;
  switch (outcome) {
    case "caught":
      return `${what}  by ${by} (${file})  ${seconds}`;
    case "survived":
      return `${what}  ${seconds}\n  ${breaks}\n  passed: ${tests.join(", ")}`;
    default:
      return `${what}  ${by}  ${seconds}`;
  }
}
