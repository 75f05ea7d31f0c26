/** Describes a chart's errors for its author. */
import { lineOfChart } from "./load.ts";

/** A serialized error. */
export interface SerializedError {
  readonly reason: string;
  readonly message: string;
}

const maxLength = 2000;

/** Serializes a thrown value: its message, and the chart's own lines of its stack. */
export function serializeError(error: unknown, reason: string): SerializedError {
  let message: string;
  try {
    message = describe(error);
  } catch {
    message = "threw a value that cannot be shown";
  }
  return {
    reason,
    message: message.length > maxLength ? `${message.slice(0, maxLength)}…` : message,
  };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return `threw ${typeof error === "string" ? error : JSON.stringify(error)}`;
  const name = error.name === "Error" ? "" : `${error.name}: `;
  const position = error instanceof SyntaxError ? positionOf(String(error.stack)) : undefined;
  if (position !== undefined) return `${position}: ${name}${error.message}`;
  const lines = String(error.stack)
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .flatMap((line) => lineOfChart(line) ?? []);
  return [`${name}${error.message}`, ...lines].join("\n  ");
}

/** Position of a syntax error, such as `line 3, column 11`: its stack begins with the line and marks the column below it. */
function positionOf(stack: string): string | undefined {
  const [where = "", ...rest] = stack.split("\n");
  const line = /:(\d+)$/.exec(where)?.[1];
  const arrow = rest.find((text) => /^\s*\^+\s*$/.test(text));
  return line === undefined || arrow === undefined
    ? undefined
    : `line ${line}, column ${arrow.indexOf("^") + 1}`;
}
