/**
 * A process that runs one replica after another for `warm.ts`. A line of JSON on standard input starts a replica, and a line on both
 * outputs reports that it has stopped.
 */
import { createInterface } from "node:readline";
import { runCommandLine } from "../../../bus/command/program.ts";
import { stopSignals } from "../../../bus/process/signals.ts";
import { runFunctions } from "../../fixtures/runfunctions.ts";
import type { LifeOrder } from "./warm.ts";

const [endOfLife] = process.argv.slice(2);
const run = { denrei: runCommandLine, functions: runFunctions };

createInterface({ input: process.stdin })
  .on("line", (line) => void live(JSON.parse(line)))
  // The owner has exited.
  .on("close", () => process.kill(process.pid, "SIGKILL"));

async function live({ program, args, env }: LifeOrder): Promise<void> {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.exitCode = undefined;
  const code = (await run[program](args)) ?? process.exitCode ?? 0;
  // A replica handles signals and errors until its process exits.
  for (const name of [...stopSignals, "uncaughtException"]) process.removeAllListeners(name);
  for (const output of [process.stdout, process.stderr]) output.write(`${endOfLife}${code}\n`);
}
