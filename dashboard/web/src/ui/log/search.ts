/** Searching the lines of a log. */
import type { Chunk, LogLine } from "./chunks.ts";

/** A place where the searched text occurs. */
export interface Match {
  readonly chunk: Chunk;
  readonly line: LogLine;
  /** Offset in the text of the line. */
  readonly from: number;
  readonly to: number;
}

/** Finds a text, ignoring case. */
export interface Search {
  /** The text; an empty one matches nothing. */
  readonly text: string;
  matchesIn(chunk: Chunk): readonly Match[];
}

const syntaxCharacters = /[$()*+./?[\\\]^{|}]/g;

/** Searches each chunk once, because chunks never change. */
export function searchFor(text: string): Search {
  const pattern = new RegExp(text.replace(syntaxCharacters, "\\$&"), "giu");
  const found = new WeakMap<Chunk, readonly Match[]>();
  const find = (chunk: Chunk): Match[] =>
    chunk.lines.flatMap((line) =>
      [...line.text.matchAll(pattern)].map(({ index, 0: { length } }) => ({
        chunk,
        line,
        from: index,
        to: index + length,
      })),
    );
  return {
    text,
    matchesIn(chunk) {
      if (text === "") return [];
      const known = found.get(chunk) ?? find(chunk);
      found.set(chunk, known);
      return known;
    },
  };
}
