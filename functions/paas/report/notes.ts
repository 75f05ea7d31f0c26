/** Notes of earlier reports, as the pipeline's status has them. */
import type { AppPipeline } from "../kinds/apppipeline.ts";

/** Everything reported of one pull request. */
export type Report = NonNullable<NonNullable<AppPipeline["status"]>["reports"]>[number];
/** The same, open for changes. */
export type Notes = { -readonly [K in keyof Report]: Report[K] };

/** Notes without what was refused and may be tried again by then: milliseconds since the epoch. */
export function unrefused({ refused = {}, ...notes }: Report, by: number): Notes {
  const left = Object.entries(refused).filter(([, until]) => Date.parse(until) > by);
  return { ...notes, ...(left.length > 0 && { refused: Object.fromEntries(left) }) };
}
