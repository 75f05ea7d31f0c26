/** `npm run soak`: does anything grow under a steady load? */
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
  .description("carry a steady load and look whether the memory of any process grows")
  .option(
    "--minutes <minutes>",
    "how long; the longer, the smaller the leak that is found",
    above("minutes"),
    30,
  )
  .option(
    "--per-second <songs>",
    "Hikawas that are created, sung and deleted a second; more than the machine carries is no steady load",
    above("songs"),
    // Two cores carry twice as many, the API server and the load among them.
    3,
  )
  .option("--no-write", `do not write ${documentName}`)
  .showHelpAfterError("(npm run soak -- --help shows what is possible)")
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
