/** Reconciles that may still announce writes, and the events that wait for their announcements. */
import { Recent } from "../values/recent.ts";

/** Limits of the keys. An entry that is missing or has expired costs a request to the queue. */
const remembered = { keptMillis: 10_000, limit: 50_000 };

/** The keys of running reconciles that were announced. */
export class OpenReconciles {
  readonly #until = new Recent<number>(remembered);
  readonly #news = new Map<string, PromiseWithResolvers<void>>();

  /** A reconcile of the key runs, for `millis` at most. */
  open(key: string, millis: number): void {
    this.#until.set(key, performance.now() + millis);
    this.tell(key);
  }

  /** No reconcile of the key runs any more. */
  close(key: string): void {
    this.#until.delete(key);
    this.tell(key);
  }

  /** Something was announced: wakes those that wait. */
  tell(key: string): void {
    this.#news.get(key)?.resolve();
    this.#news.delete(key);
  }

  /** Resolves at the next announcement of the key, or after `millis`. Undefined if no reconcile of the key runs, or the time is over. */
  news(key: string, millis: number): Promise<void> | undefined {
    const until = this.#until.get(key);
    if (millis <= 0 || until === undefined || until <= performance.now()) return undefined;
    let news = this.#news.get(key);
    if (news === undefined) {
      news = Promise.withResolvers();
      this.#news.set(key, news);
    }
    const timer = setTimeout(() => this.tell(key), millis);
    return news.promise.finally(() => clearTimeout(timer));
  }
}
