/** Cleaning up after a failed start. */

/**
 * Calls `start`, and disposes what it has added to the stack, in reverse order, if it fails. `start` moves the stack at its end. A
 * declaration with `await using` would do the same, but Node 22 cannot parse it, and could not say which Node is needed.
 */
export async function disposingOnError<T>(start: (starting: AsyncDisposableStack) => Promise<T>): Promise<T> {
  const starting = new AsyncDisposableStack();
  try {
    return await start(starting);
  } catch (error) {
    try {
      await starting.disposeAsync();
    } catch (cleanupError) {
      throw new SuppressedError(cleanupError, error);
    }
    throw error;
  }
}
