/** Identifies processes by pid and start time, because pids are reused. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** A process, distinguishable from a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in a platform-specific format, to be compared only for equality. */
  readonly started: string;
}

/** The process with this pid, or undefined when no process has it or it is a zombie. */
export function identify(pid: number): ProcessIdentity | undefined {
  const started = process.platform === "linux" ? startedLinux(pid) : startedElsewhere(pid);
  return started === undefined ? undefined : { pid, started };
}

/** Whether this process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started;
}

/** Clock ticks since boot: proc(5), `/proc/<pid>/stat`, field 22. */
function startedLinux(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // Field 2 is the command in parentheses and may contain anything, so count from its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" ? undefined : fields[19];
}

function startedElsewhere(pid: number): string | undefined {
  try {
    const out = execFileSync("/bin/ps", ["-o", "stat=", "-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C", TZ: "UTC" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [state, ...started] = out.trim().split(/\s+/);
    return state === undefined || state.startsWith("Z") ? undefined : started.join(" ");
  } catch {
    return undefined;
  }
}
