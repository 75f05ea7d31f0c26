/** Restarts child processes that exit, as a Deployment would. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Child, describeExit, type Exit } from "../local/index.ts";

/** Where to report restarts, and when to give up. */
export interface RestartOptions {
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The first delay before a restart, which then doubles, and the longest delay. Milliseconds. */
const firstDelayMillis = 1000;
const longestDelayMillis = 15_000;

/** Reports the exit of a child, and restarts it until it runs or `signal` aborts. Never rejects. */
export async function restart(
  name: string,
  exit: Exit,
  child: () => Child | undefined,
  { say, signal }: RestartOptions,
): Promise<void> {
  if (signal.aborted) return;
  say(`${name} ${describeExit(exit)}; restarting it.`);
  for (let delay = firstDelayMillis; ; delay = Math.min(2 * delay, longestDelayMillis)) {
    try {
      await sleep(delay, undefined, { signal });
      await child()?.start(signal);
      return say(`${name} restarted (pid ${child()?.pid}).`);
    } catch (error) {
      if (signal.aborted) return;
      say(`${name} failed to restart, retrying: ${(error as Error).message}`);
    }
  }
}
