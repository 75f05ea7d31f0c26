/** Tells a process that is slow from one that hangs. */
import { readdirSync, readFileSync } from "node:fs";

/**
 * How long the busiest thread of a process has run or waited for a processor, in milliseconds. 0 where the kernel does not say, as
 * outside Linux (https://docs.kernel.org/scheduler/sched-stats.html).
 */
export function busyMillis(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  try {
    return Math.max(0, ...readdirSync(tasks).map((task) => busyNanosOf(`${tasks}/${task}/schedstat`) / 1e6));
  } catch {
    return 0;
  }
}

function busyNanosOf(schedstat: string): number {
  const [running = 0, waiting = 0] = readFileSync(schedstat, "utf8").split(" ").map(Number);
  return running + waiting;
}
