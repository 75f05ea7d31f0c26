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

/** Memory for one body. */
export interface Room {
  /** Makes it as large as `bytes`, which is larger than before; false when there is no more. */
  grow(bytes: number): boolean;
  /** Called when the memory was given to another body: the owner drops what is in it. */
  onTaken: () => void;
  /** The body is complete, and its memory is not taken away any more. */
  keep(): void;
  /** Gives it back. */
  free(): void;
}

interface Holder {
  readonly since: number;
  taken(): void;
}

interface Share {
  left: number;
  /** Incomplete bodies, the oldest first. */
  readonly holders: Set<Holder>;
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
  const shares = {
    small: { left: allSmall, holders: new Set<Holder>() },
    large: { left: allLarge, holders: new Set<Holder>() },
  };
  return () => {
    let share: Share = shares.small;
    let bytes = 0;
    const holder: Holder = {
      since: now(),
      taken() {
        room.free();
        room.onTaken();
      },
    };
    const room: Room = {
      onTaken: () => undefined,
      grow(wanted) {
        const next = wanted > small ? shares.large : shares.small;
        if (next !== share) room.free();
        share = next;
        share.holders.add(holder);
        const missing = wanted - bytes;
        while (missing > share.left) {
          const [oldest = holder] = share.holders;
          if (oldest === holder || now() - oldest.since < graceMillis) return false;
          oldest.taken();
        }
        share.left -= missing;
        bytes = wanted;
        return true;
      },
      keep: () => void share.holders.delete(holder),
      free() {
        share.left += bytes;
        bytes = 0;
        share.holders.delete(holder);
      },
    };
    return room;
  };
}
