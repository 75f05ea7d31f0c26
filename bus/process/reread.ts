/** Rereads a configuration file or folder at an interval, such as a mounted Secret. */

/** What to read, and what to do with the result. */
export interface RereadOptions<T> {
  /** Reads and parses the current content. */
  read(): Promise<T>;
  readonly everyMillis: number;
  isSame(a: T, b: T): boolean;
  /** Called with each value that differs from the one before. */
  onChange(value: T): void;
  /** Called once for each error until a read succeeds; errors with the same message count as one. */
  onError(error: Error): void;
  /** The value to use after an error. Defaults to the last one. */
  afterError?(error: Error, last: T): T;
}

/** A value that is reread until it is stopped. */
export interface Reread<T> {
  current(): T;
  stop(): void;
}

/** Reads now, and then every `everyMillis`, one read at a time. Throws if the first read fails. The timer does not keep the process alive. */
export async function reread<T>(options: RereadOptions<T>): Promise<Reread<T>> {
  const { read, everyMillis, isSame, onChange, onError, afterError = (_, last) => last } = options;
  let current: T = await read();
  let reported: string | undefined;
  let isReading = false;

  async function readAgain(): Promise<void> {
    if (isReading) return;
    isReading = true;
    try {
      const found = await read();
      if (!isSame(found, current)) onChange(found);
      current = found;
      reported = undefined;
    } catch (thrown) {
      const error = thrown as Error;
      if (error.message !== reported) onError(error);
      reported = error.message;
      current = afterError(error, current);
    } finally {
      isReading = false;
    }
  }

  const timer = setInterval(readAgain, everyMillis);
  timer.unref();
  return { current: () => current, stop: () => clearInterval(timer) };
}
