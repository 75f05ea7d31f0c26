/** Which process a pid means: pids are used again, start times tell one use from the next. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** A process, not to be mistaken for a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it was started, as text that only the same machine understands and only equality is defined for. */
  readonly started: string;
}

/** The process that has this pid now, or undefined when there is none. A zombie does not count. */
export function identify(pid: number): ProcessIdentity | undefined {
  const started = process.platform === "linux" ? startedLinux(pid) : startedElsewhere(pid);
  return started === undefined ? undefined : { pid, started };
}

/** Does this very process still run? */
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
  // Field 2 is the command in parentheses and may hold anything, so count from behind it.
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
