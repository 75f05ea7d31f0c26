/** The lines of a log view in chunks that never change, so that only changed chunks are drawn again. */
import type { ParsedLine } from "./line.ts";

/** A container whose lines are in the view. */
export interface LogSource {
  /** `<pod>/<container>` */
  readonly id: string;
  /** What distinguishes it from the other sources of the view. */
  readonly label: string;
  /** Position in the order of arrival, which chooses its color. */
  readonly index: number;
}

/** A line. */
export interface LogLine extends ParsedLine {
  readonly source: LogSource;
  /** Time of writing (RFC 3339). */
  readonly at: string | undefined;
  /** Lines are in this order: the latest time of its log so far, because a log's own order counts more than times. */
  readonly order: string;
  /** Whether the server truncated the line. */
  readonly isCut: boolean;
}

/** Consecutive lines. */
export interface Chunk {
  readonly id: number;
  readonly lines: readonly LogLine[];
}

/** More lines would make the page slow; `kubectl logs` shows all. */
export const maxLines = 5000;
const chunkLines = 100;

let lastId = 0;

const endOf = ({ lines }: Chunk): string => lines.at(-1)?.order ?? "";
/** Keeps the order of lines with the same key: sorting is stable. */
const inOrder = (lines: readonly LogLine[]): LogLine[] =>
  lines.toSorted((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0));

/** Adds lines at their times. Chunks before the first of them stay the same objects. Drops the oldest chunks over the limit. */
export function withLines(chunks: readonly Chunk[], added: readonly LogLine[]): readonly Chunk[] {
  if (added.length === 0) return chunks;
  const sorted = inOrder(added);
  const first = sorted[0]?.order ?? "";
  let kept = chunks.length;
  while (kept > 0 && endOf(chunks[kept - 1] as Chunk) > first) kept--;
  const open = chunks[kept - 1];
  // The last of them may have room.
  if (open !== undefined && open.lines.length < chunkLines) kept--;
  const moved = chunks.slice(kept);
  const rest = inOrder([...moved.flatMap(({ lines }) => lines), ...sorted]);
  const changed: Chunk[] = [];
  for (let at = 0; at < rest.length; at += chunkLines)
    changed.push({ id: moved[changed.length]?.id ?? ++lastId, lines: rest.slice(at, at + chunkLines) });
  return limited([...chunks.slice(0, kept), ...changed]);
}

/** Whole chunks, so that the others stay the same: at most one chunk more than the limit. */
function limited(chunks: readonly Chunk[]): readonly Chunk[] {
  let held = chunks.reduce((sum, { lines }) => sum + lines.length, 0);
  let dropped = 0;
  while (held - (chunks[dropped]?.lines.length ?? held) >= maxLines)
    held -= chunks[dropped++]?.lines.length ?? 0;
  return chunks.slice(dropped);
}

/** All lines, in order. */
export const linesOf = (chunks: readonly Chunk[]): readonly LogLine[] => chunks.flatMap(({ lines }) => lines);
