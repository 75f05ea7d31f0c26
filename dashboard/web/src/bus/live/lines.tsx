/** How the lines of a chart differ, and samples of them for legends. */

/** Lengths of dashes and gaps, which distinguish lines without their colors. */
const dashes: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [12, 3, 2, 3], [5, 2], [1, 5]];

/** More lines could not be distinguished. */
export const maxLines = dashes.length;

/** The dashes of a line, by its index. */
export const dashOf = (at: number): number[] => [...(dashes[at % maxLines] ?? [])];

/** A sample of a line for legends. */
export function Swatch({ at }: { at: number }) {
  return (
    <svg class={`swatch line-${at % maxLines}`} viewBox="0 0 28 8" width="28" height="8" aria-hidden="true">
      <line
        x1="1"
        y1="4"
        x2="27"
        y2="4"
        stroke="currentColor"
        stroke-width="2.5"
        stroke-dasharray={dashOf(at).join(" ")}
      />
    </svg>
  );
}
