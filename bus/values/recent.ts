/** A bounded map whose entries expire, even without lookups. */

/** Limits of the map. */
export interface RecentOptions {
  /** Entries expire this long after they were last set. Milliseconds. */
  readonly keptMillis: number;
  /** Maximum number of entries. A further one replaces the oldest. */
  readonly limit: number;
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number;
}

/** A map of recent entries, the oldest first. */
export class Recent<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly at: number }>();
  readonly #options: Required<RecentOptions>;
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: RecentOptions) {
    this.#options = { now: () => performance.now(), ...options };
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined || this.#isOld(entry) ? undefined : entry.value;
  }

  /** Sets an entry and makes it the newest. */
  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, at: this.#options.now() });
    if (this.#entries.size > this.#options.limit)
      this.#entries.delete(this.#entries.keys().next().value as string);
    this.#plan();
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  *[Symbol.iterator](): Generator<[string, V]> {
    for (const [key, entry] of this.#entries) if (!this.#isOld(entry)) yield [key, entry.value];
  }

  #isOld({ at }: { readonly at: number }): boolean {
    return at <= this.#options.now() - this.#options.keptMillis;
  }

  /** One timer for all entries. It does not keep the process alive. */
  #plan(): void {
    this.#sweep ??= setTimeout(() => {
      this.#sweep = undefined;
      for (const [key, entry] of this.#entries) {
        if (!this.#isOld(entry)) break;
        this.#entries.delete(key);
      }
      if (this.#entries.size > 0) this.#plan();
    }, this.#options.keptMillis).unref();
  }
}
