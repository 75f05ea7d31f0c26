/** A container's log, live. */
import { useEffect, useRef, useState } from "preact/hooks";
import { withLead } from "./notices.tsx";

/** Identifies a log. */
export interface LogTarget {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** `previous`: the log before the container's last restart. */
  readonly run?: "present" | "previous";
}

interface Line {
  /** Time of writing (RFC 3339). */
  readonly at?: string;
  readonly text: string;
  /** Whether the server truncated the line. */
  readonly isCut?: boolean;
}

interface LogError {
  readonly status: number;
  readonly message: string;
}

/** More lines would make the page slow; `kubectl logs` shows all. */
const maxLines = 5000;
/** Whether waiting cannot help. Other errors go away when a container starts or a permission is granted. */
const isFinal = ({ status }: LogError, run: LogTarget["run"]): boolean =>
  status === 404 || (status === 400 && run === "previous");

/** The current content of a log. */
interface LogState {
  readonly lines: readonly Line[];
  /** A message below the lines. */
  readonly state: string;
}

/** Follows a log by `GET /api/log` while the component is mounted. */
function useLog({ namespace, pod, container, run = "present" }: LogTarget): LogState {
  const [log, setLog] = useState<LogState>({ lines: [], state: "Waiting for log lines…" });
  useEffect(() => {
    const query = new URLSearchParams({ namespace, pod, container, previous: String(run === "previous") });
    const source = new EventSource(`/api/log?${query}`);
    let waiting: Line[] = [];
    let frame = 0;
    const setState = (state: string) => setLog(({ lines }) => ({ lines, state }));
    const on = <T,>(event: string, take: (data: T) => void) =>
      source.addEventListener(event, ({ data }: MessageEvent<string>) => take(JSON.parse(data) as T));
    const draw = () => {
      frame = 0;
      const lines = waiting;
      waiting = [];
      setLog((log) => ({ lines: [...log.lines, ...lines].slice(-maxLines), state: "" }));
    };
    on<Line>("line", (line) => {
      waiting.push(line);
      frame ||= requestAnimationFrame(draw);
    });
    on("end", () => {
      source.close();
      requestAnimationFrame(() => setState("End of log."));
    });
    on<LogError>("problem", (error) => {
      setState(error.status === 0 ? "" : withLead("Cannot read the log:", error.message));
      if (isFinal(error, run)) source.close();
    });
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) setState("The log is not available right now.");
    };
    return () => {
      cancelAnimationFrame(frame);
      source.close();
    };
  }, [namespace, pod, container, run]);
  return log;
}

/** Shows the last lines and follows the log. */
export function Log(target: LogTarget) {
  const { lines, state } = useLog(target);
  const shown = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (lines.length > 0 && isAtEnd.current) shown.current?.scrollTo({ top: shown.current.scrollHeight });
  }, [lines]);
  return (
    <div class="stack">
      <pre
        class="log"
        ref={shown}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it
        tabIndex={0}
        role="log"
        aria-label={`Log of ${target.container} in ${target.pod}`}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24;
        }}
      >
        {lines.map(({ at, text, isCut }, index) => (
          <div key={`${at} ${index}`} title={at}>
            {text}
            {isCut && "…"}
          </div>
        ))}
      </pre>
      <p class="quiet small" role="status">
        {state}
      </p>
    </div>
  );
}
