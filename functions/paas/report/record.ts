/** Records of earlier reports in the pipeline's status. */
import type { AppPipeline } from "../kinds/apppipeline.ts";

/** Record of all reports about one pull request. */
export type Report = NonNullable<NonNullable<AppPipeline["status"]>["reports"]>[number];
/** A mutable record. */
export type Notes = { -readonly [K in keyof Report]: Report[K] };

/** The record without refusals that are due by `by`, in milliseconds since the epoch. */
export function unrefused({ refused = {}, ...notes }: Report, by: number): Notes {
  const left = Object.entries(refused).filter(([, until]) => Date.parse(until) > by);
  return { ...notes, ...(left.length > 0 && { refused: Object.fromEntries(left) }) };
}
