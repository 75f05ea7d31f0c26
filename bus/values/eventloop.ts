/**
 * Batches work by turns of the event loop. Messages that are written to one socket in the same turn leave in one system call;
 * a call per message would dominate the CPU time of a busy process.
 */

/** Returns a function that waits for the end of the current turn. All waiters of a turn continue together. */
export function turnEnd(): () => Promise<void> {
  let end: Promise<void> | undefined;
  return () => {
    end ??= new Promise((resolve) => {
      setImmediate(() => {
        end = undefined;
        resolve();
      });
    });
    return end;
  };
}

/**
 * Returns a function that lets the first caller of a turn continue at once and makes later ones wait for the end of the turn. So a
 * lone caller is not delayed, and the rest of a burst continues together.
 */
export function turnEndAfterFirst(): () => Promise<void> | undefined {
  const end = turnEnd();
  let hasFirst = false;
  const reset = (): void => {
    hasFirst = false;
  };
  return () => {
    if (hasFirst) return end();
    hasFirst = true;
    setImmediate(reset);
    return undefined;
  };
}

/** Returns a function that plans `run` for the end of the current turn. However often it is called in a turn, `run` is called once. */
export function atTurnEnd(run: () => void): () => void {
  let isPlanned = false;
  const runPlanned = (): void => {
    isPlanned = false;
    run();
  };
  return () => {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(runPlanned);
  };
}

/** Returns a function that collects the items of a turn and passes them to `flush` at its end. */
export function batchByTurn<T>(flush: (items: readonly T[]) => void): (item: T) => void {
  const items: T[] = [];
  const planFlush = atTurnEnd(() => flush(items.splice(0)));
  return (item) => {
    items.push(item);
    planFlush();
  };
}
