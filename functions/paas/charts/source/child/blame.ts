/** What a chart did wrong, as its author reads it. */
import { lineOfChart } from "./load.ts";

/** A failure as it is sent. */
export interface Blame {
  readonly reason: string;
  readonly message: string;
}

const maxLength = 2000;

/** A thrown value: its message, and of its stack the chart's own lines. */
export function fromChart(error: unknown, reason: string): Blame {
  let message: string;
  try {
    message = told(error);
  } catch {
    message = "threw what can not be shown";
  }
  return {
    reason,
    message: message.length > maxLength ? `${message.slice(0, maxLength)}…` : message,
  };
}

function told(error: unknown): string {
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

/** `line 3, column 11`: the stack of a syntax error begins with where it is, and shows the place below the line. */
function positionOf(stack: string): string | undefined {
  const [where = "", ...rest] = stack.split("\n");
  const line = /:(\d+)$/.exec(where)?.[1];
  const arrow = rest.find((text) => /^\s*\^+\s*$/.test(text));
  return line === undefined || arrow === undefined
    ? undefined
    : `line ${line}, column ${arrow.indexOf("^") + 1}`;
}
