/** An expiring cache of a process. Changes do not invalidate it, and it is empty after a restart. */
export interface TtlCache<V> {
  get(key: string): V | undefined;
  put(key: string, value: V): void;
}

export const minute = 60_000;
export const hour = 60 * minute;

/** Creates a cache whose entries expire after `ttlMillis`. */
export function openTtlCache<V>(ttlMillis: number, clock: () => number): TtlCache<V> {
  const entries = new Map<string, { readonly value: V; readonly until: number }>();
  return {
    get(key) {
      const entry = entries.get(key);
      return entry === undefined || entry.until <= clock() ? undefined : entry.value;
    },
    put(key, value) {
      entries.set(key, { value, until: clock() + ttlMillis });
    },
  };
}
