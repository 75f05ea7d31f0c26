/** CPU and memory of processes, from Linux's /proc. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Process ids by role: `bridge`, `worker-1`, `kube-apiserver`. */
export type Pids = ReadonlyMap<string, number>;

/** The usage of one process during a measurement. */
export interface Usage {
  /** User and system time of all its threads, in seconds. */
  readonly cpuSeconds: number;
  /** Resident memory at the end, in MB (10^6 bytes). */
  readonly rssMegabytes: number;
  /** Peak memory since the process started, in MB. */
  readonly peakMegabytes: number;
}

/** The kernel reports times in ticks of 1/100 s on every architecture (USER_HZ). */
const ticksPerSecond = 100;

/** CPU seconds since the process started. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the command in parentheses, which may contain anything, so parse after it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

function megabytes(pid: number, field: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1];
  return (Number(kibibytes) * 1024) / 1e6;
}

const each = <T>(pids: Pids, read: (pid: number) => T): Map<string, T> =>
  new Map([...pids].map(([role, pid]) => [role, read(pid)]));

/** CPU seconds used by any process on this machine, or taken by the hypervisor. */
function machineCpuSeconds(): number {
  // user, nice, system, idle, iowait, irq, softirq, steal
  const fields = readFileSync("/proc/stat", "utf8").split("\n", 1)[0]?.trim().split(/\s+/).slice(1, 9) ?? [];
  return (
    fields.reduce((sum, ticks, at) => (at === 3 || at === 4 ? sum : sum + Number(ticks)), 0) / ticksPerSecond
  );
}

/** Starts to measure the CPU time that other processes use: noise, unless it is small. */
export function measureOthers(pids: Pids): () => number {
  const read = () => machineCpuSeconds() - [...pids.values()].reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const before = read();
  return () => read() - before;
}

/** Starts a measurement; the returned function ends it. */
export function measure(pids: Pids): () => Map<string, Usage> {
  const before = each(pids, cpuSeconds);
  return () =>
    new Map(
      [...pids].map(([role, pid]) => [
        role,
        {
          cpuSeconds: cpuSeconds(pid) - (before.get(role) ?? 0),
          rssMegabytes: megabytes(pid, "VmRSS"),
          peakMegabytes: megabytes(pid, "VmHWM"),
        },
      ]),
    );
}

/** Resident memory now, in MB. */
export const rssOf = (pids: Pids): Map<string, number> => each(pids, (pid) => megabytes(pid, "VmRSS"));

/**
 * Resident memory of idle processes, in MB: the lowest sample of some seconds, because a garbage collector returns memory at any
 * time. No collection is forced.
 */
export async function idleRssOf(
  pids: Pids,
  { millis, signal }: { readonly millis: number; readonly signal: AbortSignal },
): Promise<Map<string, number>> {
  const least = rssOf(pids);
  const until = performance.now() + millis;
  while (performance.now() < until) {
    await sleep(500, undefined, { signal });
    for (const [role, now] of rssOf(pids)) least.set(role, Math.min(now, least.get(role) ?? now));
  }
  return least;
}

/** Throws without /proc. */
export function expectProc(): void {
  if (process.platform === "linux") return;
  throw new Error(
    `expected Linux, for process statistics in /proc; found ${process.platform}. Run the benchmark in a container.`,
  );
}
