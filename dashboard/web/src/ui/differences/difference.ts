/** How what runs differs from what an object asks for. Pure. */
import type { Tone } from "../health.ts";

/** A setting whose running value is not the wanted one. */
export interface Difference {
  readonly setting: string;
  readonly wanted: string;
  readonly running: string;
}

/** The state in a sentence, and the settings that differ. */
export interface Drift {
  readonly tone: Tone;
  readonly sentence: string;
  readonly differences: readonly Difference[];
}

/** A state, and a sentence about it. */
export type State = readonly [tone: Tone, sentence: string];

/** The difference of a setting, as a list with one item; empty if the values are the same. */
export const difference = (
  setting: string,
  isSame: boolean,
  wanted: string,
  running: string,
): readonly Difference[] => (isSame ? [] : [{ setting, wanted, running }]);
