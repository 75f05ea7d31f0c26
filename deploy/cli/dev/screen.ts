/** What `denrei dev` prints of the logs of its replicas: a line for each reconcile, and errors where they come from. */
import { styleText } from "node:util";
import { debuggedWarning } from "../../../bus/worker/keeper.ts";
import { duration } from "../../environment/progress.ts";
import { placesIn, placeText, sourceLine } from "./source.ts";

/** A log record. */
export type LogRecord = Readonly<Record<string, unknown>>;

type Style = Parameters<typeof styleText>[0];

/** Prints. */
export interface Screen {
  /** A line of our own, with the time. */
  tell(text: string, style?: Style): void;
  /** What belongs to the line above. */
  more(lines: readonly string[], style?: Style): void;
  /** A record of a worker's log, if it is of interest. */
  record(record: LogRecord): void;
  /** A line that the code of a worker has printed by itself. */
  printed(replica: string, line: string): void;
}

/** Where to print, and where the sources are. */
export interface ScreenOptions {
  readonly write: (line: string) => void;
  readonly colours: "on" | "off";
  readonly root: string;
}

/** What every record has, and what is shown in another way. */
const known = new Set([
  ..."level time process replica function key attempt trace_id msg err".split(" "),
  ..."ms writes failed retryInMillis reason".split(" "),
]);
const indent = " ".repeat(9);

/** The outcomes of reconciles that failed, by what the worker logs. */
const failures: Readonly<Record<string, string>> = {
  "reconcile failed": "failed",
  blocked: "blocked",
  "given up: dead letter": "given up, dead letter",
};

/** A screen. */
export function screen({ write, colours, root }: ScreenOptions): Screen {
  const paint = (style: Style, text: string): string =>
    colours === "on" ? styleText(style, text, { validateStream: false }) : text;
  const clock = (): string => paint("dim", new Date().toTimeString().slice(0, 8));

  function tell(text: string, style: Style = []): void {
    write(`${clock()} ${paint(style, text)}`);
  }
  function more(lines: readonly string[], style: Style = "dim"): void {
    for (const line of lines) write(`${indent}${paint(style, line)}`);
  }

  function subject({ function: fn, key }: LogRecord): string {
    return `${paint("cyan", String(fn))}${key === undefined ? "" : ` ${String(key)}`}`;
  }

  function failure(outcome: string, record: LogRecord): void {
    const { ms, retryInMillis, failed } = record;
    const notes = [
      ...(typeof ms === "number" ? [`after ${duration(ms)}`] : []),
      ...(typeof failed === "number" && failed > 1 ? [`for the ${ordinal(failed)} time`] : []),
      ...(typeof retryInMillis === "number" ? [`again in ${duration(retryInMillis)}`] : []),
    ];
    write(
      `${clock()} ${subject(record)}  ${paint("red", outcome)} ${paint("dim", notes.join(", "))}`.trimEnd(),
    );
    error(record.err);
  }

  function webhook({ event, delivery, outcome, status }: LogRecord): void {
    const which = [event, String(delivery ?? "").slice(0, 8)].filter(Boolean).join(" ");
    write(
      `${clock()} ${paint("cyan", "gateway")} ${which}  ${paint("dim", `${outcome}, answered ${status}`)}`,
    );
  }

  function error(err: unknown): void {
    const { type = "Error", message = "", stack = "" } = (err ?? {}) as Record<string, string>;
    const [first = "", ...rest] = message.split("\n");
    more([`${type}: ${first}`, ...rest], "red");
    const [place, ...below] = placesIn(stack, root);
    if (place === undefined) return;
    const source = sourceLine(place, root);
    more([`at ${placeText(place)}${source === undefined ? "" : `   ${source}`}`], []);
    more(below.slice(0, 4).map((one) => `   ${placeText(one)}`));
  }

  return {
    tell,
    more,
    printed(replica, line) {
      write(`${clock()} ${paint("cyan", replica)}  ${line}`);
    },
    record(record) {
      const { msg, level, ms, writes } = record;
      // It was asked for.
      if (msg === debuggedWarning) return;
      if (msg === "webhook") return webhook(record);
      if (record.function === undefined) {
        if (level === "error" || level === "fatal" || level === "warn") {
          write(`${clock()} ${paint("yellow", `${String(record.replica)}: ${String(msg)}`)}`);
          if (record.err !== undefined) error(record.err);
        }
        return;
      }
      if (msg === "reconciled") {
        const wrote =
          typeof writes === "number" && writes > 0 ? `, ${writes} ${writes === 1 ? "write" : "writes"}` : "";
        return write(
          `${clock()} ${subject(record)}  ${paint("green", "done")} ${paint("dim", `${duration(Number(ms))}${wrote}`)}`,
        );
      }
      const outcome = failures[String(msg)];
      if (outcome !== undefined) return failure(outcome, record);
      if (level === "debug" || level === "trace") return;
      const fields = Object.entries(record).filter(([name]) => !known.has(name));
      const shown = fields.map(
        ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
      );
      const style: Style = level === "info" ? [] : level === "warn" ? "yellow" : "red";
      write(
        `${clock()} ${subject(record)}  ${paint(style, String(msg))} ${paint("dim", shown.join(" "))}`.trimEnd(),
      );
      if (record.err !== undefined) error(record.err);
    },
  };
}

const ordinal = (n: number): string =>
  `${n}${n % 100 > 10 && n % 100 < 14 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th")}`;
