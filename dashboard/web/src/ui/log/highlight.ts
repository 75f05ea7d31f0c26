/**
 * Marks matches without changing the document, so that typing draws no lines again. Browsers without it show no marks.
 * https://drafts.csswg.org/css-highlight-api-1/
 */
import type { Chunk, LogLine } from "./chunks.ts";
import type { Match } from "./search.ts";

/** The names in `style/logs.css`. */
const names = ["log-match", "log-current-match"] as const;
type Name = (typeof names)[number];

/** More marks per chunk would make the page slow. */
const maxMarks = 1000;

function highlight(name: Name): Highlight | undefined {
  if (!("highlights" in CSS)) return undefined;
  const known = CSS.highlights.get(name) ?? new Highlight();
  known.priority = names.indexOf(name);
  CSS.highlights.set(name, known);
  return known;
}

/** The part of an element's text, which may be in several elements. */
function rangeIn(element: Element, from: number, to: number): StaticRange | undefined {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let start: readonly [Node, number] | undefined;
  for (let node = walker.nextNode(), at = 0; node !== null; node = walker.nextNode()) {
    const length = node.textContent?.length ?? 0;
    if (start === undefined && from < at + length) start = [node, from - at];
    if (start !== undefined && to <= at + length) {
      const [startContainer, startOffset] = start;
      return new StaticRange({ startContainer, startOffset, endContainer: node, endOffset: to - at });
    }
    at += length;
  }
  return undefined;
}

const rangesOf = (matches: readonly Match[], texts: ReadonlyMap<LogLine, Element>): AbstractRange[] =>
  matches.flatMap(({ line, from, to }) => {
    const element = texts.get(line);
    const range = element && rangeIn(element, from, to);
    return range === undefined ? [] : [range];
  });

/** Finds the elements with the texts of a chunk's lines. */
export type FindTexts = (chunk: Chunk) => ReadonlyMap<LogLine, Element>;

/** The marks of one log view. */
export class Marks {
  readonly #chunks = new Map<Chunk, readonly AbstractRange[]>();
  #current: AbstractRange | undefined;

  /** Marks the matches of these chunks, and nothing else. Unchanged chunks keep their marks. */
  show(chunks: readonly Chunk[], matchesIn: (chunk: Chunk) => readonly Match[], find: FindTexts): void {
    const all = highlight("log-match");
    const shown = new Set(chunks);
    for (const chunk of this.#chunks.keys()) if (!shown.has(chunk)) this.#forget(chunk);
    for (const chunk of chunks) {
      if (this.#chunks.has(chunk)) continue;
      const matches = matchesIn(chunk).slice(0, maxMarks);
      const ranges = matches.length === 0 ? [] : rangesOf(matches, find(chunk));
      for (const range of ranges) all?.add(range);
      this.#chunks.set(chunk, ranges);
    }
  }

  /** Marks one match in another color. */
  showCurrent(match: Match | undefined, find: FindTexts): void {
    const current = highlight("log-current-match");
    if (this.#current !== undefined) current?.delete(this.#current);
    [this.#current] = match === undefined ? [] : rangesOf([match], find(match.chunk));
    if (this.#current !== undefined) current?.add(this.#current);
  }

  /** Removes all marks. */
  clear(): void {
    for (const chunk of [...this.#chunks.keys()]) this.#forget(chunk);
    if (this.#current !== undefined) highlight("log-current-match")?.delete(this.#current);
    this.#current = undefined;
  }

  #forget(chunk: Chunk): void {
    for (const range of this.#chunks.get(chunk) ?? []) highlight("log-match")?.delete(range);
    this.#chunks.delete(chunk);
  }
}
