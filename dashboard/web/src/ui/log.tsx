/** A container's log, as it is written. */
import { useEffect, useRef, useState } from "preact/hooks";

/** Which log. */
export interface LogPlace {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** More would make the page slow; who needs all of it has `kubectl logs`. */
const maxLines = 5000;

/**
 * Shows the last lines and what comes after them, from `GET /api/log`: events with a line each, `end` when the container
 * has ended, `trouble` when there is nothing to be had.
 */
export function Log({ namespace, pod, container }: LogPlace) {
  const [lines, setLines] = useState<readonly string[]>([]);
  const [state, setState] = useState("Waiting for lines…");
  const shown = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const query = new URLSearchParams({ namespace, pod, container });
    const source = new EventSource(`/api/log?${query}`);
    let waiting: string[] = [];
    let frame = 0;
    source.onmessage = ({ data }: MessageEvent<string>) => {
      waiting.push(data);
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        const news = waiting;
        waiting = [];
        setLines((before) => [...before, ...news].slice(-maxLines));
        setState("");
      });
    };
    source.addEventListener("end", () => {
      setState("It has ended.");
      source.close();
    });
    source.addEventListener("trouble", ({ data }: MessageEvent<string>) => {
      setState((JSON.parse(data) as { message: string }).message);
    });
    source.onerror = () =>
      setState(
        source.readyState === EventSource.CLOSED
          ? "There is no log to be had."
          : "The log has broken off; looking again…",
      );
    return () => {
      cancelAnimationFrame(frame);
      source.close();
    };
  }, [namespace, pod, container]);
  useEffect(() => {
    if (isAtEnd.current) shown.current?.scrollTo({ top: shown.current.scrollHeight });
  }, [lines]);
  return (
    <div class="stack">
      <pre
        class="log"
        ref={shown}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached with a keyboard
        tabIndex={0}
        role="log"
        aria-label={`Log of ${container} in ${pod}`}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24;
        }}
      >
        {lines.map((line, at) => (
          <div key={at}>{line}</div>
        ))}
      </pre>
      <p class="quiet small" role="status">
        {state}
      </p>
    </div>
  );
}
