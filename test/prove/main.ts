/** `npm run prove`: the reliability scenarios. */
import { Command, InvalidArgumentError } from "commander";
import { someOf } from "../harness/someof.ts";
import { documentName, writeDocument } from "./document.ts";
import { fullMinutes, prove } from "./prove.ts";
import { scenarios } from "./scenarios/index.ts";
import { run, say } from "./terminal.ts";

/** The command-line options. */
interface Options {
  readonly minutes?: number;
  readonly seed: number;
  readonly only?: readonly string[];
  readonly peer: boolean;
  readonly write: boolean;
}

const number =
  (what: string, valid: (value: number) => boolean) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() === "" || !valid(value)) throw new InvalidArgumentError(`expected ${what}.`);
    return value;
  };

const names = scenarios.map(({ name }) => name);
const options = new Command("prove")
  .description("attack the bus and the platform with real faults, and check every promise")
  .option(
    "--minutes <minutes>",
    `for all scenarios; sizes are reduced to fit (default: full size, about ${fullMinutes(scenarios)})`,
    number("minutes above 0", (value) => value > 0),
  )
  .option(
    "--seed <seed>",
    "seed of the random choices, to repeat a run",
    number("a whole number", Number.isSafeInteger),
    1,
  )
  .option(
    "--only <scenarios>",
    `run only these scenarios, separated by commas: ${names.join(", ")}`,
    someOf(names),
  )
  .option("--no-peer", "do not measure the Go operator for comparison")
  .option("--no-write", `do not write ${documentName}`)
  .addHelpText(
    "after",
    `\nScenarios:\n${scenarios.map(({ number, name, title }) => `  ${String(number).padStart(2)}  ${name.padEnd(12)} ${title}`).join("\n")}`,
  )
  .showHelpAfterError("(see npm run prove -- --help)")
  .parse()
  .opts<Options>();

await run(async (signal) => {
  const chosen = scenarios.filter(({ name }) => options.only?.includes(name) ?? true);
  const verdicts = await prove(chosen, {
    seed: options.seed,
    minutes: options.minutes,
    peer: options.peer ? "measure" : "omit",
    say,
    signal,
  });
  if (options.write) {
    await writeDocument(verdicts, options);
    say(`Written to ${documentName}${options.only ? ": the scenarios that ran" : ""}.`);
  }
  const broken = verdicts.filter(({ holds }) => !holds).map(({ scenario }) => scenario.name);
  if (broken.length === 0) {
    const which =
      verdicts.length === 1 ? "The scenario holds" : `All of the ${verdicts.length} scenarios hold`;
    say(`${which} (seed ${options.seed}).`);
    return true;
  }
  const minutes = options.minutes === undefined ? "" : ` --minutes ${options.minutes}`;
  say(
    `BROKEN: ${broken.join(", ")}. Repeat with: npm run prove -- --seed ${options.seed}${minutes} --only ${broken.join(",")}`,
  );
  return false;
});
