/** What replicas log: by it the demo knows which of them has done something. */

/** A log record of a replica. */
export interface LogRecord {
  readonly replica: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** The records so far, and waiting for one. */
export class Records {
  readonly #all: LogRecord[] = [];
  readonly #waiting = new Set<(record: LogRecord) => void>();

  /** Adds a line of a log; one that is no record is left out. */
  readonly add = (line: string): void => {
    const record = recordIn(line);
    if (record === undefined) return;
    this.#all.push(record);
    for (const tell of this.#waiting) tell(record);
  };

  /** The first record that fits, of those that came and those to come. Rejects with the signal's reason. */
  first(fits: (record: LogRecord) => boolean, signal: AbortSignal): Promise<LogRecord> {
    const found = this.#all.find(fits);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const over = () => {
        this.#waiting.delete(tell);
        signal.removeEventListener("abort", abort);
      };
      const tell = (record: LogRecord) => {
        if (!fits(record)) return;
        over();
        resolve(record);
      };
      const abort = () => {
        over();
        reject(signal.reason);
      };
      if (signal.aborted) return abort();
      this.#waiting.add(tell);
      signal.addEventListener("abort", abort);
    });
  }
}

function recordIn(line: string): LogRecord | undefined {
  try {
    const record = JSON.parse(line);
    return typeof record?.msg === "string" && typeof record.replica === "string" ? record : undefined;
  } catch {
    return undefined;
  }
}
