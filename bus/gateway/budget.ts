/**
 * How much memory request bodies may take at once. The sender of a body is known only at its end, so memory goes to
 * strangers until then. When none is left, the body that has held its memory for longest gives way to the newest: a
 * stranger who holds on to memory loses it, and a webhook, which takes milliseconds, does not. Large bodies have a share
 * of their own, so that small ones, which most are, find memory however many large ones come.
 */

/** Sizes in bytes. */
export interface BudgetLimits {
  /** The largest body. */
  readonly body: number;
  /** Bodies above this are large ones. */
  readonly small: number;
  /** What all small ones may have at once, and what all large ones. */
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
  readonly held: Set<Room>;
}

interface Budget {
  readonly small: Share;
  readonly large: Share;
  /** The largest body that is small. Bytes. */
  readonly smallBytes: number;
  readonly graceMillis: number;
  readonly now: () => number;
}

/** Memory for one body. */
export class Room {
  /** Called when the memory was given to another body: the owner drops what is in it. */
  onTaken: (why: "displaced") => void = () => undefined;
  readonly #budget: Budget;
  readonly #since: number;
  #share: Share;
  #bytes = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
    this.#share = budget.small;
    this.#since = budget.now();
  }

  /** Makes it as large as `bytes`, which is larger than before; false when there is no more. */
  grow(bytes: number): boolean {
    const { small, large, smallBytes, graceMillis, now } = this.#budget;
    const share = bytes > smallBytes ? large : small;
    if (share !== this.#share) this.free();
    this.#share = share;
    share.held.add(this);
    const missing = bytes - this.#bytes;
    while (missing > share.left) {
      const [oldest = this] = share.held;
      if (oldest === this || now() - oldest.#since < graceMillis) return false;
      oldest.free();
      oldest.onTaken("displaced");
    }
    share.left -= missing;
    this.#bytes = bytes;
    return true;
  }

  /** The body is complete, and its memory is not taken away any more. */
  keep(): void {
    this.#share.held.delete(this);
  }

  /** Gives it back. */
  free(): void {
    this.#share.left += this.#bytes;
    this.#bytes = 0;
    this.keep();
  }
}

/**
 * Opens a budget, from which every room is taken. No body gives way within its first `graceMillis`: when many come at
 * once, those that come too late are turned away, and the others are not begun in vain.
 */
export function openBudget(
  { small, allSmall, allLarge }: BudgetLimits,
  graceMillis: number,
  now: () => number = () => performance.now(),
): () => Room {
  const budget: Budget = {
    small: { left: allSmall, held: new Set() },
    large: { left: allLarge, held: new Set() },
    smallBytes: small,
    graceMillis,
    now,
  };
  return () => new Room(budget);
}
