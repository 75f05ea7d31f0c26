/**
 * Parses log lines as a kubelet writes them with `timestamps=true`, and tracks the position of a reader.
 * https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-read-log-of-the-specified-pod
 */

/** Longer lines are cut, timestamp included. Bytes. */
export const maxLineBytes = 16 * 1024;

/** A log line. */
export interface LogLine {
  /** RFC 3339 in UTC with nine digits, so that string order is time order. Undefined if the line has no timestamp. */
  readonly at: string | undefined;
  readonly text: string;
  /** Longer than {@link maxLineBytes}. */
  readonly isCut: boolean;
  /** False if the stream ended within the line. */
  readonly isWhole: boolean;
}

/** The position of a line: its time, and its ordinal among the lines with this time. */
export interface LogPosition {
  readonly at: string;
  readonly count: number;
}

/** A line with its position. A line without a timestamp has the position of the line before it. */
export interface PositionedLine extends LogLine {
  readonly position: LogPosition | undefined;
}

/** `2026-01-02T03:04:05.000000006Z/1` */
export const positionText = ({ at, count }: LogPosition): string => `${at}/${count}`;

/** Parses a position; undefined if the text is not one. */
export function parsePosition(text: string | undefined): LogPosition | undefined {
  const [, at, count] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z)\/([1-9]\d{0,8})$/.exec(text ?? "") ?? [];
  return at === undefined || Number.isNaN(Date.parse(at)) ? undefined : { at, count: Number(count) };
}

/** The kubelet's timestamp, with nanoseconds, in its own time zone. */
const stamp = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ?/;

function lineOf(bytes: Buffer, isCut: boolean, isWhole: boolean): LogLine {
  // Drops a character that was cut in two.
  const line = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: isCut });
  const [all = "", seconds, fraction = "", zone] = stamp.exec(line) ?? [];
  const millis = Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(millis)) return { at: undefined, text: line, isCut, isWhole };
  const at = `${new Date(millis).toISOString().slice(0, 19)}.${fraction.padEnd(9, "0")}Z`;
  return { at, text: line.slice(all.length), isCut, isWhole };
}

const newline = 0x0a;

/** Splits a stream into lines. Keeps at most {@link maxLineBytes} of each. */
export async function* logLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<LogLine> {
  let kept: Buffer[] = [];
  let length = 0;
  let isCut = false;
  const keep = (part: Buffer) => {
    const more = part.subarray(0, maxLineBytes - length);
    if (more.length < part.length) isCut = true;
    // A copy, so that the whole chunk can be garbage-collected.
    if (more.length > 0) kept.push(Buffer.from(more));
    length += more.length;
  };
  const take = (isWhole: boolean): LogLine => {
    const line = lineOf(Buffer.concat(kept), isCut, isWhole);
    [kept, length, isCut] = [[], 0, false];
    return line;
  };
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
      keep(bytes.subarray(from, end));
      yield take(true);
      from = end + 1;
    }
    keep(bytes.subarray(from));
  }
  if (length > 0) yield take(false);
}

/** Timestamps to remember. Lines of stdout and stderr may be out of order by some lines. */
const maxTimes = 1000;
/** If the log is past the position by this much, the line no longer exists, for example after a log rotation. */
const laterSeconds = 1;

/**
 * The lines after a position, from a stream that starts at the position's second or before. Matches the line's position, not only
 * its time, because lines that are written at the same moment may be out of order. If the line no longer exists, yields the lines
 * with a later time.
 */
export async function* linesAfter(
  lines: AsyncIterable<LogLine>,
  position: LogPosition | undefined,
): AsyncGenerator<PositionedLine> {
  const counts = new Map<string, number>();
  let last = position;
  let isFound = position === undefined;
  let held: PositionedLine[] = [];
  const positioned = (line: LogLine): PositionedLine => {
    if (line.at === undefined) return { ...line, position: last };
    const count = (counts.get(line.at) ?? 0) + 1;
    counts.set(line.at, count);
    if (counts.size > maxTimes) counts.delete(counts.keys().next().value ?? "");
    last = { at: line.at, count };
    return { ...line, position: last };
  };
  for await (const read of lines) {
    const line = positioned(read);
    if (isFound || position === undefined) {
      yield line;
      continue;
    }
    const at = line.at ?? "";
    if (at === position.at && line.position?.count === position.count) {
      isFound = true;
      held = [];
    } else if (at > position.at || (line.at === undefined && held.length > 0)) {
      held.push(line);
      if (Date.parse(at) < Date.parse(position.at) + laterSeconds * 1000 || line.at === undefined) continue;
      isFound = true;
      yield* held;
      held = [];
    }
  }
  yield* held;
}
