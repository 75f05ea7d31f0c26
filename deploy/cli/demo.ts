/** `denrei demo` and `denrei up` */

import { exitCodeOf, onStopSignals } from "../../bus/process/signals.ts";
import { report } from "./explain.ts";
import { guide } from "./guide.ts";
import { say, whenOutputCloses } from "./output.ts";
import { progressDisplay } from "./progress.ts";
import { sing } from "./sing.ts";
import { type Stage, setStage } from "./stage.ts";

/** What the user asked for. */
export interface DemoOptions {
  readonly mode: "demo" | "up";
  readonly workers: number;
}

/** Starts everything, lets the sample sing, and ends (`demo`) or stays until Ctrl-C (`up`). */
export async function demo({ mode, workers }: DemoOptions): Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
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
  let stage: Stage | undefined;
  try {
    stage = await setStage({ workers, display, say: tell, signal });
    if (mode === "up") say(guide(stage));
    say(`\nHikawa sings on ${workers} ${workers === 1 ? "replica" : "replicas"}:\n`);
    await sing(stage, { mode, signal });
    if (!signal.aborted) say("\nStopping everything.");
  } catch (error) {
    if (!signal.aborted) await report(error);
  }
  await stage?.stop();
  process.exit();
}
