/** From the text of a chart to what it exports. */
import { checkExport } from "./contract.ts";
import { chartUrl, provideChart } from "./modules.ts";
import { javascript, type Stripped, stripped } from "./typescript.ts";

/** Text of a module, as a site has it. */
export interface ChartText {
  readonly source: string;
  readonly language: "ts" | "js";
}

let text: Stripped = javascript("");

/** The default export of a chart. Once for each process. */
export async function loadChart({ source, language }: ChartText): Promise<unknown> {
  text = language === "ts" ? stripped(source) : javascript(source);
  provideChart(text.text, language);
  try {
    const module: { default?: unknown } = await import(chartUrl);
    checkExport(module.default);
    return module.default;
  } catch (error) {
    // What is wrong in JavaScript is told with its line by those who look for types in it.
    if (error instanceof SyntaxError && language === "js") stripped(source);
    throw error;
  }
}

const place = new RegExp(`${chartUrl}:(\\d+):(\\d+)`, "g");

/** A line of a stack with the place in the chart as its author knows it; nothing when it is not in the chart. */
export function lineOfChart(line: string): string | undefined {
  if (!line.includes(chartUrl)) return undefined;
  return line.trim().replaceAll(place, (_, at, column) => {
    const origin = text.origin(Number(at), Number(column));
    return `chart:${origin.line}:${origin.column}`;
  });
}
