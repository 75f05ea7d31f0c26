/**
 * A list from which any value can be removed at once. For values that come and go quickly it takes the place of a `Set`, whose
 * replaced tables would keep them for too long, as those of a `Map` do (`briefmap.ts`).
 */

/** The place of a value in a {@link LinkedList}. */
export interface ListNode<T> {
  readonly value: T;
  previous: ListNode<T> | undefined;
  next: ListNode<T> | undefined;
}

/** Values in the order of their addition. */
export class LinkedList<T> implements Iterable<T> {
  #first: ListNode<T> | undefined;
  #last: ListNode<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The oldest value. */
  get first(): T | undefined {
    return this.#first?.value;
  }

  /** Adds a value behind all others. */
  append(value: T): ListNode<T> {
    const node: ListNode<T> = { value, previous: this.#last, next: undefined };
    if (this.#last === undefined) this.#first = node;
    else this.#last.next = node;
    this.#last = node;
    this.#size++;
    return node;
  }

  /** Removes a value by its node, which must be in this list. */
  remove(node: ListNode<T>): void {
    const { previous, next } = node;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // A removed node must not refer to others: it would keep them if it was in the old generation already.
    node.previous = undefined;
    node.next = undefined;
    this.#size--;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let node = this.#first; node !== undefined; node = node.next) yield node.value;
  }
}
