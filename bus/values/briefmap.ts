/**
 * A map of entries that stay briefly, by numbers from 0 to 2^32 - 2. Use it for what is in flight.
 *
 * Why not a `Map`: V8 replaces the table of a `Map` or a `Set` once per some dozen additions, and the old table refers to the new
 * one. Once a table is in the old generation, all later ones survive every minor garbage collection, with the entries that they had,
 * until the next major one. A gateway with 50 webhooks in flight kept a part of each delivery in this way.
 */
export class BriefMap<T> {
  /** Numbers as keys, so that V8 uses a table without such references. */
  readonly #entries: Record<number, T> = Object.create(null);

  set(id: number, value: T): void {
    this.#entries[id] = value;
  }

  get(id: number): T | undefined {
    return this.#entries[id];
  }

  delete(id: number): void {
    delete this.#entries[id];
  }

  /** The values at the moment, by number. */
  values(): T[] {
    return Object.values(this.#entries);
  }
}
