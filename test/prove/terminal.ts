/** What the programs of the proof share: lines for the user, and an end when the user wants one. */

/** Prints a line. */
export const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/**
 * Runs a program and ends the process: with 0 when it resolves with true, with 1 when it resolves with false or throws, and
 * with 130 when a signal has aborted it.
 */
export async function run(program: (signal: AbortSignal) => Promise<boolean>): Promise<never> {
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      say("Stopping; what was started is being ended.");
      stopping.abort(new Error(`stopped by ${signal}`));
    });
  }
  try {
    process.exitCode = (await program(stopping.signal)) ? 0 : 1;
  } catch (error) {
    const interrupted = stopping.signal.aborted;
    process.stderr.write(`${interrupted ? (error as Error).message : (error as Error).stack}\n`);
    process.exitCode = interrupted ? 130 : 1;
  }
  process.exit();
}
