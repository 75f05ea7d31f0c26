/** Follows the logs of containers over one stream, and merges their lines by time. */
import { type LogEnd, type LogProblem, maxLogs, type StreamedLines } from "../../../../api/log.ts";
import type { Message } from "../../api/message.ts";
import { openStream } from "../../api/stream.ts";
import { type Chunk, type LogLine, type LogSource, maxLines, withLines } from "./chunks.ts";
import { parseLine } from "./line.ts";

/** Identifies the log of a container. */
export interface LogTarget {
  readonly pod: string;
  readonly container: string;
  /** What distinguishes it in a view of several logs. Defaults to the names of the pod and the container. */
  readonly label?: string;
  /** A higher number continues a log that has ended with the container's next run. */
  readonly restarts?: number;
}

/** Which run of the containers. `previous`: the log before the last restart. */
export type LogRun = "present" | "previous";

/** A log that cannot be read. */
export interface UnreadableLog extends Message {
  readonly label: string;
}

/** The current content of a view. */
export interface LogState {
  readonly chunks: readonly Chunk[];
  /** All lines so far, including dropped ones. */
  readonly received: number;
  /** `over`: all containers have ended, or cannot be read. */
  readonly state: "waiting" | "live" | "interrupted" | "over";
  readonly unreadable: readonly UnreadableLog[];
  /** Logs so far, including ended ones. */
  readonly sources: number;
}

/** Before the first event. */
export const emptyLog: LogState = { chunks: [], received: 0, state: "waiting", unreadable: [], sources: 0 };

interface Source extends LogSource {
  /** Restarts of the container so far, and when its log was opened. */
  restarts: number;
  openedRestarts: number;
  position: string;
  order: string;
  isOver: boolean;
  problem: LogProblem | undefined;
}

/** The last lines of each log that the server sends first. */
const maxTailLines = 500;

/** Whether waiting cannot help. Other errors go away when a container starts or a permission is granted. */
const isFinal = ({ status }: LogProblem, run: LogRun): boolean =>
  status === 404 || (status === 400 && run === "previous");

/** The logs of one view. */
export class LogConnection {
  readonly #namespace: string;
  readonly #run: LogRun;
  readonly #onChange: (state: LogState) => void;
  readonly #sources = new Map<string, Source>();
  #chunks: readonly Chunk[] = [];
  #received = 0;
  #isInterrupted = false;
  #frame = 0;
  #close: (() => void) | undefined;

  /** Calls `onChange` at most once per frame. */
  constructor(namespace: string, run: LogRun, onChange: (state: LogState) => void) {
    this.#namespace = namespace;
    this.#run = run;
    this.#onChange = onChange;
  }

  /** Adds logs. The log of a deleted pod stays until its end, because its last lines may not have arrived yet. */
  follow(targets: readonly LogTarget[]): void {
    const isNew = targets.map((target) => this.#isNew(target)).includes(true);
    if (!isNew) return;
    const wanted = new Set(targets.map(idOf));
    const open = this.#open();
    for (const source of open
      .filter(({ id }) => !wanted.has(id))
      .slice(0, Math.max(0, open.length - maxLogs)))
      source.isOver = true;
    this.#reopen();
  }

  close(): void {
    cancelAnimationFrame(this.#frame);
    this.#close?.();
  }

  #isNew(target: LogTarget): boolean {
    const id = idOf(target);
    const { label = id.replace("/", " "), restarts = 0 } = target;
    const known = this.#sources.get(id);
    const hasRestarted = known?.isOver === true && restarts > known.restarts;
    if (known !== undefined) known.restarts = restarts;
    if (hasRestarted) known.isOver = false;
    if (known === undefined) {
      const begun = { openedRestarts: restarts, position: "", order: "", isOver: false, problem: undefined };
      this.#sources.set(id, { id, label, index: this.#sources.size, restarts, ...begun });
    }
    return known === undefined || hasRestarted;
  }

  #open(): Source[] {
    return [...this.#sources.values()].filter(({ isOver }) => !isOver);
  }

  #reopen(): void {
    this.#close?.();
    const open = this.#open();
    for (const one of open) one.openedRestarts = one.restarts;
    const source = (of: number): Source => open[of] as Source;
    const tailLines = Math.min(maxTailLines, Math.floor(maxLines / open.length));
    this.#close = openStream({
      address: () => {
        const query = new URLSearchParams({ namespace: this.#namespace, tailLines: String(tailLines) });
        if (this.#run === "previous") query.set("previous", "true");
        for (const { id } of open) query.append("of", id);
        query.set("since", open.map(({ position }) => position).join(","));
        return `/api/log?${query}`;
      },
      on: {
        lines: ({ lines }: StreamedLines, id: string) => {
          for (const [of, position] of id.split(",").entries()) source(of).position = position;
          this.#add(lines.map(({ of, ...line }) => this.#line(source(of), line)));
        },
        end: ({ of }: LogEnd) => {
          const { restarts, openedRestarts } = source(of);
          // The page may see the restart before the end.
          if (restarts > openedRestarts) this.#reopen();
          else this.#ended(source(of));
        },
        problem: (problem: LogProblem) => {
          const failed = source(problem.of);
          failed.problem = problem.status === 0 ? undefined : problem;
          if (isFinal(problem, this.#run)) this.#ended(failed);
          else this.#changed();
        },
      },
      opened: () => {
        this.#isInterrupted = false;
        for (const one of open) if (!one.isOver) one.problem = undefined;
        this.#changed();
      },
      broken: () => {
        this.#isInterrupted = true;
        this.#changed();
      },
    });
  }

  #line(source: Source, { at, text, isCut }: Omit<StreamedLines["lines"][number], "of">): LogLine {
    if (at !== undefined && at > source.order) source.order = at;
    source.problem = undefined;
    return { ...parseLine(text), source, at, isCut, order: source.order };
  }

  #add(lines: readonly LogLine[]): void {
    // Not once per frame, because a hidden page has none.
    this.#chunks = withLines(this.#chunks, lines);
    this.#received += lines.length;
    this.#changed();
  }

  #ended(source: Source): void {
    source.isOver = true;
    if (this.#open().length === 0) this.#close?.();
    this.#changed();
  }

  #changed(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#onChange(this.#state());
    });
  }

  #state(): LogState {
    const sources = [...this.#sources.values()];
    return {
      chunks: this.#chunks,
      received: this.#received,
      state: this.#stateOf(sources),
      unreadable: sources.flatMap(({ label, problem }) =>
        problem === undefined
          ? []
          : [{ label, message: problem.message ?? "", isSentence: problem.kind === undefined }],
      ),
      sources: sources.length,
    };
  }

  #stateOf(sources: readonly Source[]): LogState["state"] {
    if (sources.every(({ isOver }) => isOver)) return "over";
    if (this.#isInterrupted) return "interrupted";
    return this.#received === 0 ? "waiting" : "live";
  }
}

const idOf = ({ pod, container }: LogTarget): string => `${pod}/${container}`;
