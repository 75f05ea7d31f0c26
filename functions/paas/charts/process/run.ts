/** Runs a program once: in time, with an end to what it prints, and with all that it has started gone afterwards. */
import { spawn } from "node:child_process";
import { ChartError } from "../chart.ts";

/** A program, and what it is given. */
export interface Run {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** On standard input. A program need not read it. */
  readonly input: string;
  readonly deadlineMillis: number;
  /** Characters on standard output. */
  readonly maxOutput: number;
  readonly signal: AbortSignal;
}

/** What a program that ended well has printed. */
export interface Printed {
  readonly output: string;
  /** The end of it. */
  readonly errors: string;
}

const keptErrors = 2000;

/** Throws a {@link ChartError} when the program does not end well, or the signal's reason. */
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
  // The leader of a group: what it starts is in it, and ends with it.
  const child = spawn(command, args, { cwd: directory, env, detached: true });
  let output = "";
  let errors = "";

  function endGroup(): void {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // Nothing of it is left.
    }
  }
  function giveUp(why: unknown): void {
    reject(why);
    endGroup();
    // What has left the group can hold them open.
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
    `expected ${command} to end within ${deadlineMillis / 1000} seconds, found it at work. See that it ends when it has printed all objects.`,
  );

const tooMuch = (maxOutput: number): ChartError =>
  new ChartError(
    "ChartOutputInvalid",
    `expected at most ${maxOutput} characters on standard output, found more. Make fewer or smaller objects.`,
  );

const notStarted = (command: string, directory: string, cause: Error): ChartError =>
  new ChartError(
    "ChartNotLoaded",
    `expected to run ${command} in ${directory}, found that it can not be started: ${cause.message}. Correct the command, or the folder.`,
    { cause },
  );

const failed = (command: string, how: string, errors: string): ChartError =>
  new ChartError(
    "ChartThrew",
    errors === ""
      ? `expected ${command} to end with code 0, found ${how}, and nothing on standard error. Let it say there what is wrong.`
      : errors,
  );
