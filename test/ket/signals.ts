/** A signal that ends this process finds nothing left of its runs. */

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Calls `stop` before a signal ends this process. Returns what takes that back. */
export function onInterruption(stop: () => Promise<void>): () => void {
  const release = () => {
    for (const signal of signals) process.off(signal, interrupted);
  };
  function interrupted(signal: NodeJS.Signals): void {
    release();
    const end = () => {
      // Whoever else listens has heard it already, and this time nobody stops anything.
      process.kill(process.pid, signal);
    };
    stop().then(end, end);
  }
  for (const signal of signals) process.on(signal, interrupted);
  return release;
}
