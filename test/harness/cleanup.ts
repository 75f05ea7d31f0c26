/** Cleanup that runs however the work ends. */

/** Registers cleanup. */
export type Defer = (undo: () => unknown) => void;

/**
 * Runs something and then what it deferred, in reverse order of registration, also after an error and when `signal` aborts. Throws
 * the reason of `signal`, the error of the run, or the first error of the cleanup.
 */
export async function withCleanup<T>(signal: AbortSignal, run: (defer: Defer) => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const undo: (() => unknown)[] = [];
  const errors: unknown[] = [];
  let ended: { readonly result: T } | undefined;
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  try {
    // The run may wait forever; its processes are stopped below.
    ended = { result: await Promise.race([run((last) => undo.push(last)), aborted.promise]) };
  } catch (error) {
    errors.push(error);
  }
  signal.removeEventListener("abort", abort);
  for (const last of undo.reverse()) {
    try {
      await last();
    } catch (error) {
      errors.push(error);
    }
  }
  if (ended === undefined || errors.length > 0) throw errors[0];
  return ended.result;
}
