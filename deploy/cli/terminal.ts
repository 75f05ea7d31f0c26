/** The terminal of a long-running command: output and stop signals. */
import { exitCodeOf, onStopSignals, say, whenOutputCloses } from "denrei/runtime";
import { type ProgressDisplay, progressDisplay } from "../environment/progress.ts";

/** The terminal. */
export interface Terminal {
  readonly display: ProgressDisplay;
  /** Prints a line, after the progress display has ended. */
  readonly print: (line: string) => void;
  /** Aborted by Ctrl-C, a stop signal, a closed output, or the command itself. */
  readonly stopping: AbortController;
}

/** Opens the terminal. A second stop signal exits at once. */
export function openTerminal(): Terminal {
  const stopping = new AbortController();
  const display = progressDisplay(process.stdout);
  const print = (line: string): void => {
    display.done();
    say(line);
  };
  onStopSignals({
    first(name) {
      process.exitCode = exitCodeOf(name);
      print("\nStopping everything.");
      stopping.abort(new Error(`stopped by ${name}`));
    },
    again(name) {
      print("Exiting now; remaining processes are stopped in the background.");
      process.exit(exitCodeOf(name));
    },
  });
  whenOutputCloses(() => stopping.abort(new Error("the output was closed")));
  return { display, print, stopping };
}
