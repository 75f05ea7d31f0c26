/**
 * The work queue of a simulated kpack controller: one reconcile per object at a time, with retries. Omits the overall rate
 * limit, so that tests need not wait.
 */

/** A queue of objects to reconcile, by key. */
export interface Loop {
  /** Enqueues the key for an immediate reconcile, even while a reconcile runs or a retry is pending. */
  add(key: string): void;
  /** Resolves when no reconcile of the key runs or is due. A pending retry is not due. */
  idle(key: string): Promise<void>;
  /** Resolves when no reconcile runs. */
  ended(): Promise<void>;
}

/** Called for each failed reconcile. */
export type FailureLog = (line: string, error: unknown) => void;

interface Entry {
  pass: Promise<void> | undefined;
  again: boolean;
  failures: number;
  retry: NodeJS.Timeout | undefined;
}

/** Like kpack: 10 ms, doubled up to about 17 minutes. */
const firstRetryMillis = 10;
const lastRetryMillis = 1_000_000;

/** Runs `reconcile` for the added keys until the abort. */
export function startLoop(
  name: string,
  reconcile: (key: string) => Promise<void>,
  { signal, logFailure }: { readonly signal: AbortSignal; readonly logFailure: FailureLog },
): Loop {
  const entries = new Map<string, Entry>();

  async function passes(key: string, entry: Entry): Promise<void> {
    do {
      entry.again = false;
      clearTimeout(entry.retry);
      entry.retry = undefined;
      try {
        // Never synchronously within add(), whose caller may be in the middle of an update.
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
    logFailure(`${name} ${key}`, error);
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
