/** Progress of a start: on a terminal one line per part, replaced as it moves on; elsewhere a line per result. */
import type { PlatformProgress } from "../local/index.ts";

/** `moving` lines are replaced as work advances; `result` lines are final. */
export type LineKind = "moving" | "result";

/** Shows the progress of a start. */
export interface ProgressDisplay {
  show(step: PlatformProgress): void;
  /** Shows a subject and its state. */
  line(subject: string, text: string, kind: LineKind): void;
  /** Makes all lines final. Call it before anything else is printed, and at the end. */
  done(): void;
}

/** The output, such as `process.stdout`. */
export type ProgressOutput = Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">;

const subjectWidth = 24;
const barWidth = 16;
/** Shortest interval between updates of a `moving` line, on a terminal and elsewhere. Milliseconds. */
const redrawMillis = 100;
const repeatMillis = 10_000;

/** A display for the given stream. */
export function progressDisplay(out: ProgressOutput): ProgressDisplay {
  /** The subjects on the terminal from top to bottom; the cursor is on the line below. */
  const rows: string[] = [];
  const shown = new Map<string, { text: string; at: number }>();

  function draw(subject: string, content: string): void {
    const row = rows.indexOf(subject);
    if (row < 0) {
      rows.push(subject);
      out.write(`${content}\n`);
      return;
    }
    const up = rows.length - row;
    out.write(`\u001b[${up}A\r\u001b[2K${content}\u001b[${up}B\r`);
  }

  function line(subject: string, text: string, kind: LineKind): void {
    const now = performance.now();
    const last = shown.get(subject);
    if (last?.text === text) return;
    const pause = out.isTTY ? redrawMillis : repeatMillis;
    if (kind === "moving" && last !== undefined && now - last.at < pause) return;
    const content = `  ${subject.padEnd(subjectWidth)} ${text}`;
    // Cursor movement counts rows, so no line may wrap.
    if (out.isTTY) draw(subject, cut(content, (out.columns || 80) - 1));
    else out.write(`${content}\n`);
    shown.set(subject, { text, at: now });
  }

  return {
    line,
    show(step) {
      const { text, kind } = describe(step);
      // Without a terminal, lines cannot be replaced, so the start of a step is not printed.
      if (out.isTTY || (step.phase !== "starting" && step.phase !== "verifying")) {
        line(step.binary, text, kind);
      }
    },
    done() {
      rows.length = 0;
      shown.clear();
    },
  };
}

const cut = (text: string, width: number): string =>
  text.length > width ? `${text.slice(0, width - 1)}…` : text;

function describe(step: PlatformProgress): { text: string; kind: LineKind } {
  switch (step.phase) {
    case "downloading":
      return { text: bar(step.bytes, step.total), kind: "moving" };
    case "building":
      return {
        text: `building from source, ${Math.round(step.elapsedSeconds)} s (once; minutes on a small machine)`,
        kind: "moving",
      };
    case "found":
      return { text: whereFound(step.detail), kind: "result" };
    case "ready":
      return { text: `ready after ${duration(step.elapsedMillis)}`, kind: "result" };
    case "starting":
      return { text: "starting", kind: "result" };
    case "verifying":
      return { text: "checking", kind: "result" };
    case "waiting":
      return { text: `waiting: ${step.detail}`, kind: "result" };
    case "unavailable":
      return { text: step.detail, kind: "result" };
  }
}

/** Names the path only of a program that the user installed or chose. */
function whereFound(detail: string): string {
  const [origin, ...path] = detail.split(": ");
  switch (origin) {
    case "cache":
      return "found in the cache";
    case "download":
      return "downloaded";
    case "build":
      return "built from source";
    default:
      return `found: ${path.join(": ")}`;
  }
}

/** `54 ms`, `3.1 s`. */
export const duration = (millis: number): string =>
  millis < 1000 ? `${Math.round(millis)} ms` : `${(millis / 1000).toFixed(1)} s`;

function bar(bytes: number, total: number | undefined): string {
  const size = `${(bytes / 1e6).toFixed(1)} MB`;
  if (total === undefined) return `downloading ${size}`;
  const filled = Math.min(barWidth, Math.round((bytes / total) * barWidth));
  return `downloading [${"#".repeat(filled)}${".".repeat(barWidth - filled)}] ${size} of ${(total / 1e6).toFixed(1)} MB`;
}

/** `1 worker`, `2 workers`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** Shows when a start begins, and how long it took. */
export async function timedStart<T>(
  display: ProgressDisplay,
  subject: string,
  started: Promise<T>,
): Promise<T> {
  display.line(subject, "starting", "moving");
  return timed(display, subject, started);
}

/** Shows how long a start took. */
export async function timed<T>(display: ProgressDisplay, subject: string, started: Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await started;
  display.line(subject, `ready after ${duration(performance.now() - begun)}`, "result");
  return result;
}
