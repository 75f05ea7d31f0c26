/** Runs a program once, with limits for time and output, and kills all processes that it started. */
import { spawn } from "node:child_process";
import { ChartError } from "../chart.ts";

/** A program and its input. */
export interface Run {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard input. A program need not read it. */
  readonly input: string;
  readonly deadlineMillis: number;
  /** Limit of standard output. Characters. */
  readonly maxOutput: number;
  readonly signal: AbortSignal;
}

/** Output of a program that succeeded. */
export interface Printed {
  readonly output: string;
  /** The last part of standard error. */
  readonly errors: string;
}

const keptErrors = 2000;

/** Throws a {@link ChartError} when the program fails, or the signal's reason. */
export function run({
  command,
  args,
  directory,
  env,
  input,
  deadlineMillis,
  maxOutput,
  signal,
}: Run): Promise<Printed> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Printed>();
  // Detached, the child leads a process group, so that killing the group also ends what it started.
  const child = spawn(command, args, { cwd: directory, env, detached: true });
  let output = "";
  let errors = "";

  function endGroup(): void {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // The group no longer exists.
    }
  }
  function giveUp(why: unknown): void {
    reject(why);
    endGroup();
    // A process that left the group can keep the streams open.
    child.stdout.destroy();
    child.stderr.destroy();
  }
  const late = setTimeout(() => giveUp(timedOut(command, deadlineMillis)), deadlineMillis);
  const abort = (): void => giveUp(signal.reason);
  signal.addEventListener("abort", abort, { once: true });

  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
    if (output.length > maxOutput) giveUp(tooMuch(maxOutput));
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors = (errors + chunk).slice(-keptErrors);
  });
  child.stdin.on("error", () => undefined).end(input);
  child.on("error", (error) => giveUp(notStarted(command, directory, error)));
  child.on("exit", endGroup);
  child.on("close", (code, ended) => {
    if (code === 0) resolve({ output, errors });
    else reject(failed(command, ended ?? `code ${code}`, errors.trim()));
  });
  return promise.finally(() => {
    clearTimeout(late);
    signal.removeEventListener("abort", abort);
  });
}

const timedOut = (command: string, deadlineMillis: number): ChartError =>
  new ChartError(
    "ChartTimedOut",
    `${command} did not end within ${deadlineMillis / 1000} seconds. Check that it exits when it has printed all objects.`,
  );

const tooMuch = (maxOutput: number): ChartError =>
  new ChartError(
    "ChartOutputInvalid",
    `standard output is longer than ${maxOutput} characters. Make fewer or smaller objects.`,
  );

const notStarted = (command: string, directory: string, cause: Error): ChartError =>
  new ChartError(
    "ChartNotLoaded",
    `cannot start ${command} in ${directory}: ${cause.message}. Correct the command or the folder.`,
    { cause },
  );

const failed = (command: string, how: string, errors: string): ChartError =>
  new ChartError(
    "ChartThrew",
    errors === ""
      ? `${command} ended with ${how} and printed nothing on standard error. Print the error there.`
      : errors,
  );
