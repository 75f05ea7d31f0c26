/** `npm run soak`: does anything grow under a steady load? */
import { Command, InvalidArgumentError } from "commander";
import { documentName, writeSoak } from "./document.ts";
import { soak } from "./soak/soak.ts";

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
  .option("--per-second <songs>", "Hikawas that are created, sung and deleted a second", above("songs"), 20)
  .option("--no-write", `do not write ${documentName}`)
  .showHelpAfterError("(npm run soak -- --help shows what is possible)")
  .parse()
  .opts<{ minutes: number; perSecond: number; write: boolean }>();

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
  const soaked = await soak({ ...options, say, signal: stopping.signal });
  for (const { what, limit, found, holds, history = [] } of soaked.checks) {
    say(`${holds ? "holds " : "BROKEN"}  ${what}: ${found} (${limit})`);
    if (!holds) for (const line of history) say(`          ${line}`);
  }
  for (const { what, found } of soaked.figures) say(`        ${what}: ${found}`);
  if (options.write) {
    await writeSoak(soaked, options);
    say(`Written to ${documentName}.`);
  }
  process.exitCode = soaked.checks.every(({ holds }) => holds) ? 0 : 1;
} catch (error) {
  const interrupted = stopping.signal.aborted;
  process.stderr.write(`${interrupted ? (error as Error).message : (error as Error).stack}\n`);
  process.exitCode = interrupted ? 130 : 1;
}
process.exit();
