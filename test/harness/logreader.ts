/** Reads streams of `/api/log`. */
import type { StreamedLine, StreamedLines } from "../../dashboard/api/log.ts";
import { type EventReader, readEvents } from "./eventreader.ts";
import type { Visitor } from "./visitor.ts";

/** A stream of lines. */
export interface LogReader extends EventReader {
  /** The texts of the next lines. Reads no event beyond the last of them. */
  nextLines(count: number): Promise<string[]>;
  /** The lines of all events so far. */
  lines(): readonly StreamedLine[];
}

/** Opens a stream of logs, each `<pod>/<container>`. `from` is the ID with which a browser would reconnect. */
export async function readLogs(
  visitor: Visitor,
  namespace: string,
  logs: readonly string[],
  { query = {}, from }: { query?: Readonly<Record<string, string>>; from?: string | undefined } = {},
): Promise<LogReader> {
  const params = new URLSearchParams({ namespace, ...query });
  for (const log of logs) params.append("of", log);
  const reader = await readEvents(visitor, `/api/log?${params}`, from);
  const lines = () =>
    reader.all.flatMap(({ event, data }) => (event === "lines" ? (data as StreamedLines).lines : []));
  let taken = 0;
  return {
    ...reader,
    lines,
    async nextLines(count) {
      while (lines().length < taken + count) await reader.nextOf("lines");
      taken += count;
      return lines()
        .slice(taken - count, taken)
        .map(({ text }) => text);
    },
  };
}
