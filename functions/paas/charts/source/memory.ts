/** Watches the memory of a process on Linux: Node limits its heap, but not its buffers. */
import { readFile } from "node:fs/promises";

const everyMillis = 100;

/**
 * Calls `exceeded` once when a process uses more than `megabytes`. The returned function stops watching. Without /proc, as on
 * macOS, it does nothing.
 */
export function watchMemory(pid: number | undefined, megabytes: number, exceeded: () => void): () => void {
  if (pid === undefined || process.platform !== "linux") return () => undefined;
  const timer = setInterval(async () => {
    // The process may have ended since the last poll.
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
    if (kilobytes <= megabytes * 1024) return;
    clearInterval(timer);
    exceeded();
  }, everyMillis);
  return () => clearInterval(timer);
}
