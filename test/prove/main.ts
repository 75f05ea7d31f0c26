/** `npm run prove`: is anything lost, and does anybody lead? */
import { Command, InvalidArgumentError, Option } from "commander";
import { documentName, writeDocument } from "./document.ts";
import { fullMinutes, prove } from "./prove.ts";
import { scenarios } from "./scenarios/index.ts";

/** What the user asked for. */
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
  .description("attack the bus and what stands on it with real faults, and check that every promise holds")
  .option(
    "--minutes <minutes>",
    `for all scenarios together; what has a size is made smaller (default: full size, about ${fullMinutes(scenarios)})`,
    number("minutes above 0", (value) => value > 0),
  )
  .option(
    "--seed <seed>",
    "what chance decides is decided the same way again",
    number("a whole number", Number.isSafeInteger),
    1,
  )
  .addOption(new Option("--only <scenario...>", "run only these").choices(names))
  .option("--no-peer", "do not measure the Go operator beside ours")
  .option("--no-write", `do not write ${documentName}`)
  .addHelpText(
    "after",
    `\nScenarios:\n${scenarios.map(({ number, name, title }) => `  ${String(number).padStart(2)}  ${name.padEnd(12)} ${title}`).join("\n")}`,
  )
  .showHelpAfterError("(npm run prove -- --help shows what is possible)")
  .parse()
  .opts<Options>();

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    say("Stopping; what was started is being ended.");
    stopping.abort(new Error(`stopped by ${signal}`));
  });
}

try {
  const chosen = scenarios.filter(({ name }) => options.only?.includes(name) ?? true);
  const verdicts = await prove(chosen, {
    seed: options.seed,
    minutes: options.minutes,
    peer: options.peer ? "measure" : "omit",
    say,
    signal: stopping.signal,
  });
  if (options.write) {
    await writeDocument(verdicts, options);
    say(`Written to ${documentName}${options.only ? ": the scenarios that ran" : ""}.`);
  }
  const broken = verdicts.filter(({ holds }) => !holds);
  say(
    broken.length === 0
      ? `All of the ${verdicts.length} scenarios hold (seed ${options.seed}).`
      : `BROKEN: ${broken.map(({ scenario }) => scenario.name).join(", ")}. Again: npm run prove -- --seed ${options.seed}` +
          `${options.minutes === undefined ? "" : ` --minutes ${options.minutes}`} --only ${broken.map(({ scenario }) => scenario.name).join(" ")}`,
  );
  process.exitCode = broken.length === 0 ? 0 : 1;
} catch (error) {
  const interrupted = stopping.signal.aborted;
  process.stderr.write(`${interrupted ? (error as Error).message : (error as Error).stack}\n`);
  process.exitCode = interrupted ? 130 : 1;
}
process.exit();
