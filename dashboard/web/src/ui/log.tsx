/** A container's log, as it is written. */
import { useEffect, useRef, useState } from "preact/hooks";

/** Which log. */
export interface LogPlace {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** The run before the present one, of a container that was started again. */
  readonly run?: "present" | "previous";
}

interface Line {
  /** When it was written: RFC 3339; no kubelet leaves it out. */
  readonly at?: string;
  readonly text: string;
  /** It was longer. */
  readonly isCut?: boolean;
}

interface Trouble {
  readonly status: number;
  readonly message: string;
}

/** More would make the page slow; who needs all of it has `kubectl logs`. */
const maxLines = 5000;
/** Waiting helps against the others: a container is started, somebody is granted rights. */
const isFinal = ({ status }: Trouble, run: LogPlace["run"]): boolean =>
  status === 404 || (status === 400 && run === "previous");

/** What a log is at the moment. */
interface Told {
  readonly lines: readonly Line[];
  /** What is to be said beside the lines. */
  readonly state: string;
}

/** Follows a log by `GET /api/log` for as long as the component is there. */
function useLog({ namespace, pod, container, run = "present" }: LogPlace): Told {
  const [told, setTold] = useState<Told>({ lines: [], state: "Waiting for lines…" });
  useEffect(() => {
    const query = new URLSearchParams({ namespace, pod, container, previous: String(run === "previous") });
    const source = new EventSource(`/api/log?${query}`);
    let waiting: Line[] = [];
    let frame = 0;
    const say = (state: string) => setTold(({ lines }) => ({ lines, state }));
    const on = <T,>(event: string, take: (data: T) => void) =>
      source.addEventListener(event, ({ data }: MessageEvent<string>) => take(JSON.parse(data) as T));
    const draw = () => {
      frame = 0;
      const news = waiting;
      waiting = [];
      setTold(({ lines }) => ({ lines: [...lines, ...news].slice(-maxLines), state: "" }));
    };
    on<Line>("line", (line) => {
      waiting.push(line);
      frame ||= requestAnimationFrame(draw);
    });
    on("end", () => {
      source.close();
      requestAnimationFrame(() => say("It has ended."));
    });
    on<Trouble>("trouble", (trouble) => {
      say(trouble.status === 0 ? "" : trouble.message);
      if (isFinal(trouble, run)) source.close();
    });
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) say("There is no log to be had at the moment.");
    };
    return () => {
      cancelAnimationFrame(frame);
      source.close();
    };
  }, [namespace, pod, container, run]);
  return told;
}

/** Shows the last lines and what comes after them. */
export function Log(place: LogPlace) {
  const { lines, state } = useLog(place);
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached with a keyboard
        tabIndex={0}
        role="log"
        aria-label={`Log of ${place.container} in ${place.pod}`}
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
