/** The output lines of a process. */

export class Lines {
  readonly all: string[] = [];
  readonly #waiting = new Set<(line: string) => void>();
  readonly #records: Record<string, unknown>[] = [];
  /** How many lines are already parsed. Tests poll the records often. */
  #read = 0;

  push(line: string): void {
    this.all.push(line);
    for (const waiting of this.#waiting) waiting(line);
  }

  /** Log records (lines of JSON) so far. */
  records(): readonly Record<string, unknown>[] {
    for (; this.#read < this.all.length; this.#read++) {
      try {
        this.#records.push(JSON.parse(this.all[this.#read] ?? ""));
      } catch {
        // Not a record.
      }
    }
    return this.#records;
  }

  /** Resolves with the first line at or after index `from`, past or future, that satisfies the condition. */
  until(condition: (line: string) => boolean, deadlineMillis = 60_000, from = 0): Promise<string> {
    const found = this.all.slice(from).find(condition);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(check);
        reject(
          new Error(
            `no line satisfied ${condition.toString()} within ${deadlineMillis} ms; the last ones:\n${this.all.slice(-15).join("\n")}`,
          ),
        );
      }, deadlineMillis);
      const check = (line: string) => {
        if (!condition(line)) return;
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve(line);
      };
      this.#waiting.add(check);
    });
  }
}
