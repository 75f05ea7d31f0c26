/** The objects of a resource tree. */
import type { Tone } from "../health.ts";

/** An object, and what is known about it. */
export interface TreeNode {
  /** Differs from those of its siblings. */
  readonly key: string;
  readonly kind: string;
  readonly name: string;
  /** Undefined if the page may not read the object. */
  readonly health?: readonly [Tone, string] | undefined;
  readonly note?: string | undefined;
  /** RFC 3339. */
  readonly created?: string | undefined;
  /** Address of its screen. */
  readonly screen?: string | undefined;
  /** Address of its log. */
  readonly log?: string | undefined;
  readonly children?: readonly TreeNode[];
}
