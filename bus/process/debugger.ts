/**
 * A process that was started with Node's inspector (`node --inspect`): somebody may stop it at a breakpoint for as long as he
 * likes, and what it has in hand is to stay its own. Nothing here does anything in a process that was started without.
 */
import { url as inspectorUrl } from "node:inspector";

/** Whether a debugger can stop this process. */
export const isDebugged = (): boolean => inspectorUrl() !== undefined;

const tickMillis = 250;

/**
 * Calls back after so many milliseconds, of which those do not count in which a debugger has stopped this process. Returns how
 * to prevent it.
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
