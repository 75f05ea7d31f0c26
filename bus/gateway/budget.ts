/**
 * Limits the memory of concurrent request bodies. The signature can be checked only at the end of a body, so until then memory
 * goes to unknown senders. When none is left, the body that has held its memory for longest gives way to the newest. So an
 * attacker who holds on to memory loses it, and a webhook, which takes milliseconds, does not. Large bodies have their own share,
 * so that small ones, the majority, always find memory.
 */

import { LinkedList, type ListNode } from "../values/linkedlist.ts";

/** Sizes in bytes. */
export interface BudgetLimits {
  /** The largest body. */
  readonly body: number;
  /** The largest small body: larger ones use the share of large bodies. */
  readonly small: number;
  /** The shares of all small and of all large bodies. */
  readonly allSmall: number;
  readonly allLarge: number;
}

const MiB = 2 ** 20;

/** GitHub sends up to 25 MB. Five such bodies and a thousand of the usual size fit into a pod of 512 MB. */
export const defaultBudget: BudgetLimits = {
  body: 25 * MiB,
  small: MiB / 4,
  allSmall: 64 * MiB,
  allLarge: 128 * MiB,
};

interface Share {
  left: number;
  /** Rooms of incomplete bodies, the oldest first. */
  readonly held: LinkedList<Room>;
}

interface Budget {
  readonly small: Share;
  readonly large: Share;
  /** The largest small body. Bytes. */
  readonly smallBytes: number;
  readonly graceMillis: number;
  readonly now: () => number;
}

/** Memory for one body. */
export class Room {
  /** Called when the memory was given to another body: the owner must drop its content. */
  onTaken: (why: "displaced") => void = () => undefined;
  readonly #budget: Budget;
  readonly #since: number;
  #share: Share;
  /** Among the rooms of incomplete bodies. */
  #place: ListNode<Room> | undefined;
  #bytes = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
    this.#share = budget.small;
    this.#since = budget.now();
  }

  /** Grows to `bytes`, which must exceed the current size. Returns false if there is no memory. */
  grow(bytes: number): boolean {
    const { small, large, smallBytes, graceMillis, now } = this.#budget;
    const share = bytes > smallBytes ? large : small;
    if (share !== this.#share) this.free();
    this.#share = share;
    this.#place ??= share.held.append(this);
    const missing = bytes - this.#bytes;
    while (missing > share.left) {
      const { first: oldest = this } = share.held;
      if (oldest === this || now() - oldest.#since < graceMillis) return false;
      oldest.free();
      oldest.onTaken("displaced");
    }
    share.left -= missing;
    this.#bytes = bytes;
    return true;
  }

  /** Marks the body as complete: it no longer gives way. */
  keep(): void {
    if (this.#place === undefined) return;
    this.#share.held.remove(this.#place);
    this.#place = undefined;
  }

  /** Frees the memory. */
  free(): void {
    this.#share.left += this.#bytes;
    this.#bytes = 0;
    this.keep();
  }
}

/**
 * Opens a budget. The returned function allocates a room. No body gives way within its first `graceMillis`: in a burst, the
 * latest bodies are rejected, and those that have started complete.
 */
export function openBudget(
  { small, allSmall, allLarge }: BudgetLimits,
  graceMillis: number,
  now: () => number = () => performance.now(),
): () => Room {
  const budget: Budget = {
    small: { left: allSmall, held: new LinkedList() },
    large: { left: allLarge, held: new LinkedList() },
    smallBytes: small,
    graceMillis,
    now,
  };
  return () => new Room(budget);
}
