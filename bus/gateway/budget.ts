/**
 * How much of bodies may be in memory at once. Who sends one is known at its end only, so a sender that is slow, or
 * brings much, holds memory that nobody has a right to yet. Large bodies have a share of their own: however many come,
 * small ones, which most are, find room.
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

/** Room for one body. */
export interface Room {
  /** Makes it as large as `bytes`, which is larger than before; false when there is no more. */
  grow(bytes: number): boolean;
  /** Gives it back. */
  free(): void;
}

/** Opens a budget: every room is taken from it. */
export function openBudget({ small, allSmall, allLarge }: BudgetLimits): () => Room {
  const left = { small: allSmall, large: allLarge };
  return () => {
    let share: keyof typeof left = "small";
    let taken = 0;
    const free = (): void => {
      left[share] += taken;
      taken = 0;
    };
    return {
      free,
      grow(bytes) {
        free();
        share = bytes > small ? "large" : "small";
        if (bytes > left[share]) return false;
        left[share] -= bytes;
        taken = bytes;
        return true;
      },
    };
  };
}
