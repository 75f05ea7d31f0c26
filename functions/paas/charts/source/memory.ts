/** The memory of a process, where the system tells: Node bounds its heap, and not what it has in buffers. */
import { readFile } from "node:fs/promises";

const everyMillis = 100;

/**
 * Calls `exceeded` once when a process has more memory than `megabytes`, until the returned function is called. Without
 * /proc, as on macOS, nothing is known, and never called.
 */
export function watchMemory(pid: number | undefined, megabytes: number, exceeded: () => void): () => void {
  if (pid === undefined || process.platform !== "linux") return () => undefined;
  const timer = setInterval(async () => {
    // It may end between two looks.
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
    if (kilobytes <= megabytes * 1024) return;
    clearInterval(timer);
    exceeded();
  }, everyMillis);
  return () => clearInterval(timer);
}
