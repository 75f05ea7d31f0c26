/**
 * The work queue of one controller of the stand-in for kpack v0.17.2: one pass per object at a time, again after a failure.
 * Left out: a limit for all objects together, so that tests need not wait.
 */

/** Objects to be reconciled, by their key. */
export interface Loop {
  /** Soon, also when a pass is under way or the next try is far away. */
  add(key: string): void;
  /** Resolves when no pass of the key is under way or due; one that waits for its next try is not due. */
  idle(key: string): Promise<void>;
  /** Resolves when no pass is under way. */
  ended(): Promise<void>;
}

/** Told of each pass that failed. */
export type FailureLog = (line: string, error: unknown) => void;

interface Entry {
  pass: Promise<void> | undefined;
  again: boolean;
  failures: number;
  retry: NodeJS.Timeout | undefined;
}

/** As kpack's: 10 ms, then twice that, up to some 17 minutes. */
const firstRetryMillis = 10;
const lastRetryMillis = 1_000_000;

/** Runs `reconcile` for the keys that are added until the signal. */
export function startLoop(
  name: string,
  reconcile: (key: string) => Promise<void>,
  { signal, failed }: { readonly signal: AbortSignal; readonly failed: FailureLog },
): Loop {
  const entries = new Map<string, Entry>();

  async function passes(key: string, entry: Entry): Promise<void> {
    do {
      entry.again = false;
      clearTimeout(entry.retry);
      entry.retry = undefined;
      try {
        // Never within the call that added it: that one is in the middle of something.
        await Promise.resolve();
        if (!signal.aborted) await reconcile(key);
        entry.failures = 0;
      } catch (error) {
        if (!signal.aborted) retryLater(key, entry, error);
      }
    } while (entry.again && !signal.aborted);
    entry.pass = undefined;
    if (entry.retry === undefined) entries.delete(key);
  }

  function retryLater(key: string, entry: Entry, error: unknown): void {
    failed(`${name} ${key}`, error);
    const millis = Math.min(lastRetryMillis, firstRetryMillis * 2 ** entry.failures);
    entry.failures += 1;
    clearTimeout(entry.retry);
    entry.retry = setTimeout(() => add(key), millis).unref();
  }

  function add(key: string): void {
    if (signal.aborted) return;
    const entry = entries.get(key) ?? { pass: undefined, again: false, failures: 0, retry: undefined };
    entries.set(key, entry);
    entry.again = true;
    entry.pass ??= passes(key, entry);
  }

  return {
    add,
    idle: async (key) => entries.get(key)?.pass,
    async ended() {
      await Promise.all([...entries.values()].map(({ pass }) => pass));
    },
  };
}
