/** Keeps the end of a log in view, until the user scrolls up. */
import type { RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { LogState } from "./connection.ts";

/** Within this distance, in pixels, a log is at its end. */
const nearEnd = 24;

/** A log, or what it contained when the user paused it. */
export interface Following {
  /** The scrolled element, and the element that grows in it. */
  readonly element: RefObject<HTMLDivElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  /** Does not change while the log is paused, so that nothing moves under the reader. */
  readonly shown: LogState;
  readonly isPaused: boolean;
  readonly pause: () => void;
  readonly follow: () => void;
  readonly onScroll: () => void;
  /** Scrolls to a place in the log, which neither pauses nor follows. */
  readonly scrollTo: (target: Element) => void;
}

/** Follows a log. */
export function useFollowing(state: LogState): Following {
  const element = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [paused, setPaused] = useState<LogState>();
  const latest = useRef({ state, paused });
  latest.current = { state, paused };
  /** Where the log was last, and whether the next scroll event is not of the user. */
  const scrolled = useRef({ top: 0, byPage: false });
  const shown = paused ?? state;

  const toEnd = useCallback(() => {
    const log = element.current;
    if (log === null || latest.current.paused !== undefined) return;
    log.scrollTop = log.scrollHeight;
    scrolled.current.top = log.scrollTop;
  }, []);
  const pause = useCallback(() => setPaused((already) => already ?? latest.current.state), []);
  const follow = useCallback(() => setPaused(undefined), []);

  useLayoutEffect(toEnd, [shown, paused]);
  useEffect(() => {
    // Lines get their real height when they come into view.
    const observer = new ResizeObserver(toEnd);
    if (content.current) observer.observe(content.current);
    return () => observer.disconnect();
  }, []);

  const onScroll = useCallback(() => {
    const log = element.current;
    if (log === null) return;
    const { top, byPage } = scrolled.current;
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < nearEnd;
    if (!byPage && isAtEnd) follow();
    if (!byPage && !isAtEnd && log.scrollTop < top) pause();
    scrolled.current = { top: log.scrollTop, byPage: false };
  }, []);

  const scrollTo = useCallback((target: Element) => {
    const log = element.current;
    if (log === null) return;
    const { top } = log.getBoundingClientRect();
    const before = log.scrollTop;
    log.scrollTop += target.getBoundingClientRect().top - top - log.clientHeight / 2;
    scrolled.current = { top: log.scrollTop, byPage: log.scrollTop !== before };
  }, []);

  return { element, content, shown, isPaused: paused !== undefined, pause, follow, onScroll, scrollTo };
}
