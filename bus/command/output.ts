/** Standard output, whose reader may close it early: `denrei demo | head`. */

let onClosed = (): void => process.exit(0);

/** Sets what happens when the output is closed. Default: the process exits with 0. */
export function whenOutputCloses(action: () => void): void {
  onClosed = action;
}

/** Handles the error of a closed output. */
export function watchOutput(): void {
  process.stdout.on("error", () => onClosed());
  process.stderr.on("error", () => undefined);
}

/** Prints a line. */
export const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
