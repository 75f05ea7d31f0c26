/** Starting a child again that died, as a Deployment would. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Child, describeExit, type Exit } from "../local/index.ts";

/** Who wants to know, and when to give up. */
export interface RestartOptions {
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The first pause before a start, which doubles, and the longest one. Milliseconds. */
const firstPauseMillis = 1000;
const longestPauseMillis = 15_000;

/** Says that a child has died and starts it until it works or `signal` aborts. Never rejects. */
export async function restart(
  name: string,
  exit: Exit,
  child: () => Child | undefined,
  { say, signal }: RestartOptions,
): Promise<void> {
  if (signal.aborted) return;
  say(`${name} ${describeExit(exit)}; starting it again.`);
  for (let pause = firstPauseMillis; ; pause = Math.min(2 * pause, longestPauseMillis)) {
    try {
      await sleep(pause, undefined, { signal });
      await child()?.start(signal);
      return say(`${name} was started again (pid ${child()?.pid}).`);
    } catch (error) {
      if (signal.aborted) return;
      say(`${name} could not be started again, trying further: ${(error as Error).message}`);
    }
  }
}
