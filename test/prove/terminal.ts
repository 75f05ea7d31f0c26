/** Shared by the programs `prove` and `soak`: output lines, and an orderly stop. */

/** Prints a line. */
export const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/**
 * Runs a program and ends the process: with 0 if it resolves with true, with 1 if it resolves with false or throws, and with 130
 * if a signal aborted it.
 */
export async function run(program: (signal: AbortSignal) => Promise<boolean>): Promise<never> {
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      say("Stopping all processes.");
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
