/** The logs of containers as one view: live, merged by time, with search. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { withLead } from "../lead.ts";
import { maxLines } from "./chunks.ts";
import { emptyLog, LogConnection, type LogRun, type LogState, type LogTarget } from "./connection.ts";
import { download } from "./download.ts";
import { useFinding, useMarks } from "./finding.ts";
import { useFollowing } from "./following.ts";
import { ChunkLines } from "./lines.tsx";
import { logSettings } from "./settings.ts";
import { text } from "./text.ts";
import { Toolbar } from "./toolbar.tsx";

export type { LogRun, LogTarget } from "./connection.ts";

/** Follows logs while the component is mounted. Logs that are no longer targets stay until their end. */
function useLog(namespace: string, run: LogRun, targets: readonly LogTarget[]): LogState {
  const [state, setState] = useState(emptyLog);
  const connection = useRef<LogConnection>(undefined);
  useEffect(() => {
    const opened = new LogConnection(namespace, run, setState);
    connection.current = opened;
    return () => opened.close();
  }, [namespace, run]);
  const key = targets.map(({ pod, container, restarts = 0 }) => `${pod}/${container} ${restarts}`).join("\n");
  useEffect(() => {
    if (targets.length > 0) connection.current?.follow(targets);
  }, [namespace, run, key]);
  return state;
}

/** Shows the last lines and follows the logs. */
export function Log({
  name,
  file,
  namespace,
  targets,
  run = "present",
}: {
  /** Completes "Log of …", for screen readers. */
  name: string;
  /** The start of the name of the downloaded file. */
  file: string;
  namespace: string;
  targets: readonly LogTarget[];
  run?: LogRun;
}) {
  const log = useLog(namespace, run, targets);
  const { timestamps, wrap } = logSettings.value;
  const sources = Math.max(log.sources, targets.length) > 1;
  const following = useFollowing(log);
  const { element, content, shown, isPaused, pause, follow } = following;
  const view = useMemo(() => ({ timestamps, sources }), [timestamps, sources]);
  const finding = useFinding(shown.chunks);
  useMarks(finding, view, shown.chunks, following);
  const followAgain = () => {
    finding.deselect();
    follow();
    element.current?.focus({ preventScroll: true });
  };
  return (
    <div class="stack logview">
      <Toolbar
        finding={finding}
        isPaused={isPaused}
        isOver={log.state === "over"}
        onFind={(step) => {
          pause();
          finding.go(step);
        }}
        onPause={pause}
        onFollow={followAgain}
        onDownload={log.chunks.length === 0 ? undefined : () => download(file, log.chunks, sources)}
      />
      <div class="logframe">
        <div
          class={`log${wrap ? "" : " unwrapped"}${finding.filter ? " filtered" : ""}`}
          ref={element}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it
          tabIndex={0}
          role="log"
          aria-label={text.logOf(name)}
          onScroll={following.onScroll}
        >
          <div ref={content}>
            {shown.chunks.map((chunk) => (
              <ChunkLines key={chunk.id} chunk={chunk} view={view} filter={finding.filter} />
            ))}
          </div>
        </div>
        {isPaused && (
          <button type="button" class="jump" onClick={followAgain}>
            {log.received > shown.received ? text.newLines(log.received - shown.received) : text.jumpToEnd} ↓
          </button>
        )}
      </div>
      <Status log={log} />
    </div>
  );
}

/** More problems would push the lines out of view. */
const maxShownErrors = 3;

function Status({ log: { chunks, received, state, unreadable } }: { log: LogState }) {
  const held = chunks.reduce((sum, { lines }) => sum + lines.length, 0);
  const isOne = unreadable.length === 1 && held === 0;
  const others = unreadable.length - maxShownErrors;
  return (
    <div class="quiet small" role="status">
      {unreadable.slice(0, maxShownErrors).map(({ label, ...problem }) => (
        <p key={label}>{withLead(isOne ? text.unreadableLead : text.unreadable(label), problem)}</p>
      ))}
      {others > 0 && <p>{text.moreUnreadable(others)}</p>}
      {state === "waiting" && unreadable.length === 0 && <p>{text.waiting}</p>}
      {state === "interrupted" && <p>{text.interrupted}</p>}
      {state === "over" && unreadable.length === 0 && <p>{text.over}</p>}
      {received > held && <p>{text.trimmed(maxLines)}</p>}
    </div>
  );
}
