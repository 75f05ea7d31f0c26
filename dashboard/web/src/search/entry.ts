/** What the search finds. */
import type { Tone } from "../ui/health.ts";

/** A result. */
export interface Entry {
  /** Unique among all results. */
  readonly id: string;
  readonly name: string;
  /** Where it is, or what it belongs to. */
  readonly detail?: string | undefined;
  readonly health?: readonly [Tone, string] | undefined;
  /** Words that find it besides its name, its detail, and its health. */
  readonly words?: string | undefined;
  /** The address of its screen, or what it does. */
  readonly to: string | (() => void);
}

/** Results under a common name. */
export interface EntryGroup {
  readonly name: string;
  readonly entries: readonly Entry[];
}
