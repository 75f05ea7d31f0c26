/** Stops runs before a signal ends this process. */

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Calls `stop` before a signal ends this process. Returns a function that reverts this. */
export function onInterruption(stop: () => Promise<void>): () => void {
  const release = () => {
    for (const signal of signals) process.off(signal, interrupted);
  };
  function interrupted(signal: NodeJS.Signals): void {
    release();
    const end = () => {
      // Other listeners already received the signal, and this listener no longer handles it.
      process.kill(process.pid, signal);
    };
    stop().then(end, end);
  }
  for (const signal of signals) process.on(signal, interrupted);
  return release;
}
