/** Standard output, which its reader may leave: `denrei demo | head`. */

let onClosed = (): void => process.exit(0);

/** What to do when nobody reads any more; without it the process ends, successfully. */
export function whenOutputCloses(action: () => void): void {
  onClosed = action;
}

/** Turns the error of a closed output into a quiet end. */
export function watchOutput(): void {
  process.stdout.on("error", () => onClosed());
  process.stderr.on("error", () => undefined);
}

/** Prints a line. */
export const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
