/**
 * Detects an open inspector port (`node --inspect`). A debugger may stop the process at a breakpoint for any length of time,
 * and the process keeps its in-flight objects meanwhile. Without an open port nothing here has an effect.
 */
import { url as inspectorUrl } from "node:inspector";

/** Whether a debugger can stop this process. False while only a profiler runs, through a session without a port. */
export const isDebugged = (): boolean => inspectorUrl() !== undefined;

const tickMillis = 250;

/**
 * Calls back after this many milliseconds, not counting time stopped in a debugger. Returns the function that cancels it.
 */
export function afterRunning(millis: number, callback: () => void): () => void {
  if (!isDebugged()) {
    const timer = setTimeout(callback, millis);
    return () => clearTimeout(timer);
  }
  let left = millis;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    left -= Math.min(now - last, 2 * tickMillis);
    last = now;
    if (left > 0) return;
    clearInterval(timer);
    callback();
  }, tickMillis);
  return () => clearInterval(timer);
}
