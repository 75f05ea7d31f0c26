/** Draws the lines of a log. */
import type { VNode } from "preact";
import { useMemo, useRef } from "preact/hooks";
import type { Chunk, LogLine } from "./chunks.ts";
import { type ParsedLine, parseLine } from "./line.ts";
import { fullTime, localClock, localDate } from "./localtime.ts";
import type { Search } from "./search.ts";

/** What is shown of each line. */
export interface LinesView {
  readonly timestamps: boolean;
  /** The name of the container, when there are several. */
  readonly sources: boolean;
}

/** Colors of containers, which are classes in `style/logs.css`. */
const sourceColors = [12, 10, 11, 13, 14, 9] as const;

/** A chunk. Draws its lines again only if it or the view has changed. */
export function ChunkLines({
  chunk,
  view,
  filter,
}: {
  chunk: Chunk;
  view: LinesView;
  /** Shows only matching lines. Undefined shows all. */
  filter: Search | undefined;
}) {
  const contents = useRef(new WeakMap<LogLine, VNode>());
  useMemo(() => {
    contents.current = new WeakMap();
  }, [view]);
  return useMemo(() => {
    const matching = filter && new Set(filter.matchesIn(chunk).map(({ line }) => line));
    const contentOf = (line: LogLine): VNode => {
      const known = contents.current.get(line) ?? <Line line={line} view={view} />;
      contents.current.set(line, known);
      return known;
    };
    return (
      // The height is known before the lines are laid out.
      <div
        class="chunk"
        data-chunk={chunk.id}
        hidden={matching?.size === 0}
        style={{ "--lines": matching?.size ?? chunk.lines.length }}
      >
        {chunk.lines.map((line, index) => (
          <div key={index} class="line" hidden={matching && !matching.has(line)}>
            {contentOf(line)}
          </div>
        ))}
      </div>
    );
  }, [chunk, view, filter]);
}

/** The one component of a line: more would double the time to draw thousands of lines. */
function Line({ line, view: { timestamps, sources } }: { line: LogLine; view: LinesView }) {
  const { at, source, isCut } = line;
  return (
    <>
      {timestamps && at !== undefined && timestamp(at)}
      {sources && (
        <span class={`source fg-${sourceColors[source.index % sourceColors.length]}`} title={source.id}>
          {`${source.label} `}
        </span>
      )}
      {runsOf(line)}
      {isCut && "…"}
    </>
  );
}

function timestamp(at: string): VNode {
  const time = new Date(at);
  return (
    <time dateTime={at} title={fullTime(time)}>
      <span class="date">{localDate(time)} </span>
      {`${localClock(time)} `}
    </time>
  );
}

const runsOf = ({ runs }: ParsedLine): VNode => (
  <span class="text">
    {runs.map(({ text, style }, index) =>
      style === undefined ? (
        text
      ) : (
        <span key={index} class={style.classes} style={style.css}>
          {text}
        </span>
      ),
    )}
  </span>
);

/** The lines of a log that is part of an object. */
export function LogText({ text }: { text: string }) {
  return text.split("\n").map((line, index) => (
    <div key={index} class="line">
      {runsOf(parseLine(line))}
    </div>
  ));
}
