/** Loads a chart from its source. */
import { checkExport } from "./contract.ts";
import { chartUrl, provideChart } from "./modules.ts";
import { javascript, type Stripped, stripped } from "./typescript.ts";

/** Source of a chart. */
export interface ChartText {
  readonly source: string;
  readonly language: "ts" | "js";
}

let text: Stripped = javascript("");

/** Returns the default export of a chart. Call it once per process. */
export async function loadChart({ source, language }: ChartText): Promise<unknown> {
  text = language === "ts" ? stripped(source) : javascript(source);
  provideChart(text.text, language);
  try {
    const module: { default?: unknown } = await import(chartUrl);
    checkExport(module.default);
    return module.default;
  } catch (error) {
    // For JavaScript, the type stripper reports syntax errors with their line.
    if (error instanceof SyntaxError && language === "js") stripped(source);
    throw error;
  }
}

const place = new RegExp(`${chartUrl}:(\\d+):(\\d+)`, "g");

/** A stack line with its position in the original source; undefined when it is not in the chart. */
export function lineOfChart(line: string): string | undefined {
  if (!line.includes(chartUrl)) return undefined;
  return line.trim().replaceAll(place, (_, at, column) => {
    const origin = text.origin(Number(at), Number(column));
    return `chart:${origin.line}:${origin.column}`;
  });
}
