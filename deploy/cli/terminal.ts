/** What runs in a terminal until somebody ends it: how it speaks, and how it hears of its end. */
import { exitCodeOf, onStopSignals } from "../../bus/process/signals.ts";
import { type ProgressDisplay, progressDisplay } from "../environment/progress.ts";
import { say, whenOutputCloses } from "./output.ts";

/** A terminal in use. */
export interface Terminal {
  readonly display: ProgressDisplay;
  /** Prints a line, after whatever moves has come to its end. */
  readonly tell: (line: string) => void;
  /** Aborted by whoever wants the end: Ctrl-C, a signal, an output that nobody reads, or the program itself. */
  readonly stopping: AbortController;
}

/** Takes the terminal. A second signal does not wait for the end that the first one has begun. */
export function openTerminal(): Terminal {
  const stopping = new AbortController();
  const display = progressDisplay(process.stdout);
  const tell = (line: string): void => {
    display.done();
    say(line);
  };
  onStopSignals({
    first(name) {
      process.exitCode = exitCodeOf(name);
      tell("\nStopping everything.");
      stopping.abort(new Error(`stopped by ${name}`));
    },
    again(name) {
      tell("Leaving at once; what still runs is ended in the background.");
      process.exit(exitCodeOf(name));
    },
  });
  whenOutputCloses(() => stopping.abort(new Error("nobody reads any more")));
  return { display, tell, stopping };
}
