/** What `denrei dev` prints of its replicas' logs: one line per reconcile, and errors with their source location. */
import { styleText } from "node:util";
import { debuggedWarning } from "denrei/runtime";
import { duration } from "../../environment/progress.ts";
import { locationsIn, locationText, sourceLine } from "./source.ts";

/** A log record. */
export type LogRecord = Readonly<Record<string, unknown>>;

type Style = Parameters<typeof styleText>[0];

/** The output of `denrei dev`. */
export interface Screen {
  /** Prints a line with the time. */
  print(text: string, style?: Style): void;
  /** Prints details of the previous line. */
  more(lines: readonly string[], style?: Style): void;
  /** Prints a log record, if it is of interest. */
  record(record: LogRecord): void;
  /** Prints a line that a worker's code has printed. */
  printed(replica: string, line: string): void;
}

/** How to print, and where the sources are. */
export interface ScreenOptions {
  readonly write: (line: string) => void;
  readonly colors: "on" | "off";
  readonly root: string;
}

/** Fields that every record has, or that are printed in another form. */
const hiddenFields = new Set([
  ..."level time process replica function key attempt trace_id msg err".split(" "),
  ..."ms writes failed retryInMillis reason".split(" "),
]);
const indent = " ".repeat(9);

/** Outcomes of failed reconciles, by the worker's log message. */
const failures: Readonly<Record<string, string>> = {
  "reconcile failed": "failed",
  blocked: "blocked",
  "given up: dead letter": "given up, dead letter",
};

/** The gateway's log messages for requests. */
const webhookMessages: readonly unknown[] = ["webhook", "webhook not accepted"];

/** Creates a screen. */
export function createScreen({ write, colors, root }: ScreenOptions): Screen {
  const paint: Paint = (style, text) =>
    colors === "on" ? styleText(style, text, { validateStream: false }) : text;
  const line = (text: string): void =>
    write(`${paint("dim", new Date().toTimeString().slice(0, 8))} ${text}`);
  const more = (lines: readonly string[], style: Style = "dim"): void => {
    for (const one of lines) write(`${indent}${paint(style, one)}`);
  };
  const error = (err: unknown): void => {
    for (const [lines, style] of errorLines(err, root)) more(lines, style);
  };
  /** The last problem of each replica: a retry that fails in the same way is not printed again. */
  const problems = new Map<unknown, unknown>();
  return {
    print: (text, style = []) => line(paint(style, text)),
    more,
    printed: (replica, text) => line(`${paint("cyan", replica)}  ${text}`),
    record(record) {
      // The user has asked for the debugger.
      if (record.msg === debuggedWarning) return;
      const text = recordText(record, paint);
      if (text === undefined) return;
      if (record.function === undefined && !webhookMessages.includes(record.msg)) {
        if (problems.get(record.replica) === record.msg) return;
        problems.set(record.replica, record.msg);
      }
      line(text.trimEnd());
      if (hasError(record)) error(record.err);
    },
  };
}

type Paint = (style: Style, text: string) => string;

const isFailure = ({ function: fn, msg }: LogRecord): boolean =>
  fn !== undefined && failures[String(msg)] !== undefined;

const hasError = (record: LogRecord): boolean =>
  isFailure(record) ||
  (record.err !== undefined && !webhookMessages.includes(record.msg) && record.msg !== "reconciled");

/** The line of a record; undefined if it is of no interest. */
function recordText(record: LogRecord, paint: Paint): string | undefined {
  const { msg, level, function: fn } = record;
  if (webhookMessages.includes(msg)) return webhookText(record, paint);
  if (fn === undefined) {
    return level === "error" || level === "fatal" || level === "warn"
      ? paint("yellow", `${String(record.replica)}: ${problemText(record)}`)
      : undefined;
  }
  if (msg === "reconciled") return `${subject(record, paint)}  ${successText(record, paint)}`;
  if (isFailure(record)) return `${subject(record, paint)}  ${failureText(record, paint)}`;
  if (level === "debug" || level === "trace") return undefined;
  const fields = Object.entries(record)
    .filter(([name]) => !hiddenFields.has(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const style: Style = level === "info" ? [] : level === "warn" ? "yellow" : "red";
  return `${subject(record, paint)}  ${paint(style, String(msg))} ${paint("dim", fields.join(" "))}`;
}

/** A retry has its pause in the record, which differs each time. */
const problemText = ({ msg, retryInMillis }: LogRecord): string =>
  typeof retryInMillis === "number" ? `${String(msg).replace(/\.$/, "")}; retrying` : String(msg);

const subject = ({ function: fn, key }: LogRecord, paint: Paint): string =>
  `${paint("cyan", String(fn))}${key === undefined ? "" : ` ${String(key)}`}`;

function webhookText(record: LogRecord, paint: Paint): string {
  const { provider, request, event, delivery, outcome, status, detail } = record;
  const which = [provider ?? request, event, String(delivery ?? "").slice(0, 8)].filter(Boolean).join(" ");
  const answered = paint("dim", `${outcome}, answered ${status}`);
  const problem = detail === undefined ? "" : paint("yellow", `: ${detail}`);
  return `${paint("cyan", "gateway")} ${which}  ${answered}${problem}`;
}

function successText({ ms, writes }: LogRecord, paint: Paint): string {
  const wrote =
    typeof writes === "number" && writes > 0 ? `, ${writes} ${writes === 1 ? "write" : "writes"}` : "";
  return `${paint("green", "done")} ${paint("dim", `${duration(Number(ms))}${wrote}`)}`;
}

function failureText({ msg, ms, retryInMillis, failed }: LogRecord, paint: Paint): string {
  const notes = [
    ...(typeof ms === "number" ? [`after ${duration(ms)}`] : []),
    ...(typeof failed === "number" && failed > 1 ? [`for the ${ordinal(failed)} time`] : []),
    ...(typeof retryInMillis === "number" ? [`again in ${duration(retryInMillis)}`] : []),
  ];
  return `${paint("red", failures[String(msg)] ?? "")} ${paint("dim", notes.join(", "))}`;
}

/** Message, source line, and the next frames of an error. */
function* errorLines(err: unknown, root: string): Generator<[lines: readonly string[], style: Style]> {
  const { type = "Error", message = "", stack = "" } = (err ?? {}) as Record<string, string>;
  const [first = "", ...rest] = message.split("\n");
  yield [[`${type}: ${first}`, ...rest], "red"];
  const [location, ...callers] = locationsIn(stack, root);
  if (location === undefined) return;
  const source = sourceLine(location, root);
  yield [[`at ${locationText(location)}${source === undefined ? "" : `   ${source}`}`], []];
  yield [callers.slice(0, 4).map((one) => `   ${locationText(one)}`), "dim"];
}

const ordinal = (n: number): string =>
  `${n}${n % 100 > 10 && n % 100 < 14 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th")}`;
