/** The search of a log view. */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Chunk } from "./chunks.ts";
import type { Following } from "./following.ts";
import { type FindTexts, Marks } from "./highlight.ts";
import type { LinesView } from "./lines.tsx";
import { type Match, type Search, searchFor } from "./search.ts";

/** The state of a search. */
export interface Finding {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly isFilter: boolean;
  readonly setFilter: (isFilter: boolean) => void;
  readonly search: Search;
  readonly matches: readonly Match[];
  /** Index of the selected match. */
  readonly current: number | undefined;
  /** The search, if only its matches are shown. */
  readonly filter: Search | undefined;
  /** Selects the next match, or with -1 the previous one. */
  readonly go: (step: 1 | -1) => void;
  readonly deselect: () => void;
}

/** Searches the shown chunks. */
export function useFinding(chunks: readonly Chunk[]): Finding {
  const [text, setText] = useState("");
  const [isFilter, setFilter] = useState(false);
  const [current, setCurrent] = useState<number>();
  const search = useMemo(() => searchFor(text), [text]);
  const matches = useMemo(() => chunks.flatMap(search.matchesIn), [chunks, search]);
  return {
    text,
    setText: (changed) => {
      setText(changed);
      setCurrent(undefined);
    },
    isFilter,
    setFilter,
    search,
    matches,
    current,
    filter: isFilter && text !== "" ? search : undefined,
    go: (step) => {
      const { length } = matches;
      if (length === 0) return;
      setCurrent((at) => (at === undefined ? (step === 1 ? 0 : length - 1) : (at + step + length) % length));
    },
    deselect: () => setCurrent(undefined),
  };
}

/** Marks the matches that are in view, and scrolls to the selected one. */
export function useMarks(
  { search, matches, current, filter }: Finding,
  view: LinesView,
  chunks: readonly Chunk[],
  { element, content, scrollTo }: Following,
): void {
  const marks = useRef<Marks>(undefined);
  marks.current ??= new Marks();
  const elementOf = ({ id }: Chunk) => content.current?.querySelector(`[data-chunk="${id}"]`);
  const textsOf: FindTexts = (chunk) => {
    const lines = elementOf(chunk)?.children;
    return new Map(
      chunk.lines.flatMap((line, index) => {
        const text = lines?.[index]?.querySelector(".text");
        return text ? [[line, text] as const] : [];
      }),
    );
  };
  const isInView = (chunk: Chunk): boolean => {
    const [log, shown] = [element.current, elementOf(chunk)].map((one) => one?.getBoundingClientRect());
    return log !== undefined && shown !== undefined && shown.bottom > log.top && shown.top < log.bottom;
  };
  useLayoutEffect(() => {
    const mark = () =>
      marks.current?.show(search.text === "" ? [] : chunks.filter(isInView), search.matchesIn, textsOf);
    mark();
    const log = element.current;
    log?.addEventListener("scroll", mark);
    const observer = new ResizeObserver(mark);
    if (content.current) observer.observe(content.current);
    return () => {
      log?.removeEventListener("scroll", mark);
      observer.disconnect();
    };
  }, [chunks, search, filter, view]);
  // Another search marks other matches, and another view has other elements.
  useLayoutEffect(() => () => marks.current?.clear(), [search, view]);
  useLayoutEffect(() => {
    const match = current === undefined ? undefined : matches[current];
    marks.current?.showCurrent(match, textsOf);
    const target = match && textsOf(match.chunk).get(match.line);
    if (target) scrollTo(target);
  }, [current, matches, view]);
}
