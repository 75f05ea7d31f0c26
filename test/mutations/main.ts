/** `npm run test:mutations`: breaks the product one line at a time, and reports which breakages the tests catch. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command, type CommanderError, InvalidArgumentError } from "commander";
import { usageExitCode } from "../../bus/command/errors.ts";
import { platformPrograms, programs } from "../harness/programs.ts";
import { someOf } from "../harness/someof.ts";
import { run, say } from "../prove/terminal.ts";
import { areas, chosen } from "./areas.ts";
import { mutated } from "./mutation.ts";
import { resultLine } from "./report.ts";
import { commitOf, openScratch, root } from "./scratch.ts";
import { type Result, tryMutation, verify } from "./trial.ts";

interface Options {
  readonly only?: readonly string[];
  readonly name?: string;
  readonly at?: string;
  readonly minutes: number;
  readonly verify?: true;
  readonly confirm: boolean;
  readonly list?: true;
  readonly json?: string;
}

const minutes = (text: string): number => {
  const value = Number(text);
  if (text.trim() === "" || !(value > 0)) throw new InvalidArgumentError("expected minutes above 0.");
  return value;
};

const areaNames = areas.map(({ name }) => name);
const command = new Command("test:mutations")
  .description("break the product one line at a time, and report which breakages the tests catch")
  .option(
    "--only <areas>",
    `mutate only these areas, separated by commas: ${areaNames.join(", ")}`,
    someOf(areaNames),
  )
  .option("--name <mutation>", "apply only this mutation")
  .option("--at <revision>", "use the files of a git revision (default: the working tree)")
  .option(
    "--minutes <minutes>",
    "time limit per mutation; a run that reaches it counts as caught",
    minutes,
    10,
  )
  .option("--verify", "first run the test files of each area without a mutation, which must pass")
  .option("--confirm", "run each file that caught a mutation again without it, and expect it to pass", false)
  .option("--list", "print the mutations and exit")
  .option("--json <file>", "write the results to a file")
  .showHelpAfterError("(npm run test:mutations -- --help lists the options)")
  .exitOverride(({ exitCode }: CommanderError) => process.exit(exitCode === 0 ? 0 : usageExitCode))
  .addHelpText("after", "\nExit codes: 0 all caught, 1 some survived, 2 wrong command line, 130 Ctrl-C.")
  .parse();
const options = command.opts<Options>();
const selection = chosen(options);
if (selection.length === 0) {
  const where = options.only === undefined ? "" : ` in ${options.only.join(", ")}`;
  command.error(`error: no mutation is named "${options.name}"${where}; --list prints the names`);
}
if (options.list) {
  for (const { name: area, mutations } of selection)
    for (const { name, breaks } of mutations) say(`${area}/${name}\n    ${breaks}`);
  process.exit();
}
if (options.at === undefined) await expectFresh();
const commit = options.at === undefined ? undefined : await commitOf(options.at).catch(fail);

await run(async (signal) => {
  // No time limit may include the build of a program.
  await programs(...platformPrograms);
  const scratch = await openScratch(commit);
  const limits = { limitMillis: options.minutes * 60_000, signal };
  const revision = commit === undefined ? "present" : "other";
  const results: Result[] = [];
  try {
    for (const { name: area, mutations } of selection) {
      const trouble = options.verify && (await verify(scratch, mutations, limits));
      if (trouble) throw new Error(`${area}: ${trouble}`);
      for (const mutation of mutations) {
        const result = await tryMutation(scratch, area, mutation, {
          ...limits,
          revision,
          confirm: options.confirm,
        });
        results.push(result);
        say(resultLine(result, mutation));
      }
    }
  } finally {
    await scratch.remove();
    if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(results, null, 2)}\n`);
  }
  const count = (outcome: Result["outcome"]) => results.filter((one) => one.outcome === outcome).length;
  const [absent, errors] = [count("not applicable"), count("error")];
  say(
    `${count("caught")} caught, ${count("survived")} survived${absent > 0 ? `, ${absent} not applicable` : ""}${errors > 0 ? `, ${errors} without a verdict` : ""}`,
  );
  return count("survived") + errors === 0;
});

/** A list that does not match the product is an error before anything runs. */
async function expectFresh(): Promise<void> {
  for (const mutation of selection.flatMap(({ mutations }) => mutations)) {
    const path = join(root, mutation.file);
    if (!existsSync(path))
      fail(new Error(`mutation ${mutation.name} is stale: ${mutation.file} does not exist`));
    try {
      mutated(await readFile(path, "utf8"), mutation);
    } catch (error) {
      fail(error as Error);
    }
  }
}

function fail(error: Error): never {
  return command.error(`error: ${error.message}`);
}
