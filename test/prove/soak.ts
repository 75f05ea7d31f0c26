/** `npm run soak`: does memory grow under a steady load? */
import { Command, InvalidArgumentError } from "commander";
import { documentName, writeSoak } from "./document.ts";
import { soak } from "./soak/soak.ts";
import { run, say } from "./terminal.ts";

const above =
  (what: string) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() === "" || !(value > 0)) throw new InvalidArgumentError(`expected ${what} above 0.`);
    return value;
  };

const options = new Command("soak")
  .description("carry a steady load and check whether the memory of any process grows")
  .option("--minutes <minutes>", "duration; a longer run finds smaller leaks", above("minutes"), 30)
  .option(
    "--per-second <hikawas>",
    "Hikawas created, completed, and deleted per second; must be within the machine's capacity",
    above("Hikawas"),
    // Two cores carry twice as many, including the API server and the load.
    3,
  )
  .option("--no-write", `do not write ${documentName}`)
  .showHelpAfterError("(see npm run soak -- --help)")
  .parse()
  .opts<{ minutes: number; perSecond: number; write: boolean }>();

await run(async (signal) => {
  const soaked = await soak({ ...options, say, signal });
  for (const { what, limit, found, holds, history = [] } of soaked.checks) {
    say(`${holds ? "holds " : "BROKEN"}  ${what}: ${found} (${limit})`);
    if (!holds) for (const line of history) say(`          ${line}`);
  }
  for (const { what, found } of soaked.figures) say(`        ${what}: ${found}`);
  if (options.write) {
    await writeSoak(soaked, options);
    say(`Written to ${documentName}.`);
  }
  return soaked.checks.every(({ holds }) => holds);
});
