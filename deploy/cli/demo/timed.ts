/** Showing how long a start has taken. */
import { duration, type ProgressDisplay } from "./progress.ts";

/** What was started, once it is there. */
export async function timed<T>(display: ProgressDisplay, subject: string, started: Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await started;
  display.line(subject, `ready after ${duration(performance.now() - begun)}`, "result");
  return result;
}
