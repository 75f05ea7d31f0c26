/** Charts for tests. */
import { onTestFinished } from "vitest";
import { type SourceChart, type SourceOptions, sourceChart } from "../../../functions/paas/charts/source.ts";
import { application } from "./expected.ts";
import { site } from "./sites.ts";

/** A chart that is closed at the end of its test. TypeScript by default. */
export function chartOf(source: string, options: Partial<SourceOptions> = {}): SourceChart {
  const chart = sourceChart({ source, language: "ts", deadlineMillis: 60_000, ...options });
  onTestFinished(() => chart.close());
  return chart;
}

export const generous = (): AbortSignal => AbortSignal.timeout(100_000);

/** Renders the application with this name. */
export const renderedBy = (chart: SourceChart, name = "web", more: object = {}): Promise<unknown[]> =>
  chart.render(application({}, { name }), site(more), generous());

/** Renders the application web with a chart from this source. */
export const renderedFrom = (source: string, options?: Partial<SourceOptions>): Promise<unknown[]> =>
  renderedBy(chartOf(source, options));

/** Whether a process exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
