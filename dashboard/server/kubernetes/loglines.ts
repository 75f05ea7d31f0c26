/**
 * Lines of a container's log, as a kubelet writes them with `timestamps=true`, and where in it a reader is.
 * https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-read-log-of-the-specified-pod
 */

/** What of a line is kept, with the time before it. Bytes. */
export const maxLineBytes = 16 * 1024;

/** A line, whatever is in it. */
export interface LogLine {
  /** When it was written: RFC 3339 in UTC with nine digits, so that texts are as times are. Undefined where it is not said. */
  readonly at: string | undefined;
  readonly text: string;
  /** It was longer than {@link maxLineBytes}. */
  readonly isCut: boolean;
  /** The stream ended before the line did. */
  readonly isWhole: boolean;
}

/** A line that was read: the so-manieth of those with the same time. */
export interface LogPlace {
  readonly at: string;
  readonly count: number;
}

/** A line, and where it is; without a time it is where the line before is. */
export interface PlacedLine extends LogLine {
  readonly place: LogPlace | undefined;
}

/** `2026-01-02T03:04:05.000000006Z/1` */
export const placeText = ({ at, count }: LogPlace): string => `${at}/${count}`;

/** The place in a text; undefined when there is none. */
export function placeIn(text: string | undefined): LogPlace | undefined {
  const [, at, count] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z)\/([1-9]\d{0,8})$/.exec(text ?? "") ?? [];
  return at === undefined || Number.isNaN(Date.parse(at)) ? undefined : { at, count: Number(count) };
}

/** A kubelet tells the time of its own zone, with nanoseconds. */
const stamp = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ?/;

function lineOf(bytes: Buffer, isCut: boolean, isWhole: boolean): LogLine {
  // A character that was cut in two is left out.
  const line = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: isCut });
  const [all = "", seconds, fraction = "", zone] = stamp.exec(line) ?? [];
  const millis = Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(millis)) return { at: undefined, text: line, isCut, isWhole };
  const at = `${new Date(millis).toISOString().slice(0, 19)}.${fraction.padEnd(9, "0")}Z`;
  return { at, text: line.slice(all.length), isCut, isWhole };
}

const newline = 0x0a;

/** The lines of a stream. No more of a line is kept than is given. */
export async function* logLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<LogLine> {
  let kept: Buffer[] = [];
  let length = 0;
  let isCut = false;
  const keep = (part: Buffer) => {
    const more = part.subarray(0, maxLineBytes - length);
    if (more.length < part.length) isCut = true;
    // A copy: the whole chunk would stay in memory otherwise.
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

/** Times that are remembered; a container's two streams may be some lines apart. */
const maxTimes = 1000;
/** So much later than the place, whatever was there is gone: the file is another one. */
const laterSeconds = 1;

/**
 * The lines behind a place, of a stream that begins with the second of the place or before. It goes by where the line is, and
 * not by its time alone: of lines that were written at once, a later one may have an earlier time. When the line is not there
 * any more, those with a later time are given.
 */
export async function* linesBehind(
  lines: AsyncIterable<LogLine>,
  place: LogPlace | undefined,
): AsyncGenerator<PlacedLine> {
  const counts = new Map<string, number>();
  let last = place;
  let isFound = place === undefined;
  let held: PlacedLine[] = [];
  const placed = (line: LogLine): PlacedLine => {
    if (line.at === undefined) return { ...line, place: last };
    const count = (counts.get(line.at) ?? 0) + 1;
    counts.set(line.at, count);
    if (counts.size > maxTimes) counts.delete(counts.keys().next().value ?? "");
    last = { at: line.at, count };
    return { ...line, place: last };
  };
  for await (const read of lines) {
    const line = placed(read);
    if (isFound || place === undefined) {
      yield line;
      continue;
    }
    const at = line.at ?? "";
    if (at === place.at && line.place?.count === place.count) {
      isFound = true;
      held = [];
    } else if (at > place.at || (line.at === undefined && held.length > 0)) {
      held.push(line);
      if (Date.parse(at) < Date.parse(place.at) + laterSeconds * 1000 || line.at === undefined) continue;
      isFound = true;
      yield* held;
      held = [];
    }
  }
  yield* held;
}
