/** Log records of replicas, from which a demo learns which replica acted. */

/** A log record of a replica. */
export interface LogRecord {
  readonly replica: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** Collects records, and waits for them. */
export class Records {
  readonly #all: LogRecord[] = [];
  readonly #waiting = new Set<(record: LogRecord) => void>();

  /** Adds a line of a log; ignores lines that are not records. */
  readonly add = (line: string): void => {
    const record = recordIn(line);
    if (record === undefined) return;
    this.#all.push(record);
    for (const check of this.#waiting) check(record);
  };

  /** The first matching record, past or future. Rejects with the signal's reason. */
  first(matches: (record: LogRecord) => boolean, signal: AbortSignal): Promise<LogRecord> {
    const found = this.#all.find(matches);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(check);
        signal.removeEventListener("abort", abort);
      };
      const check = (record: LogRecord) => {
        if (!matches(record)) return;
        stop();
        resolve(record);
      };
      const abort = () => {
        stop();
        reject(signal.reason);
      };
      if (signal.aborted) return abort();
      this.#waiting.add(check);
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
