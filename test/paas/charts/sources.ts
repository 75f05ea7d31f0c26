/** Charts of tests, and what they are given. */
import { onTestFinished } from "vitest";
import { type SourceChart, type SourceOptions, sourceChart } from "../../../functions/paas/charts/source.ts";
import { application } from "./expected.ts";
import { site } from "./sites.ts";

/** A chart that ends with its test. TypeScript unless it says otherwise. */
export function chartOf(source: string, options: Partial<SourceOptions> = {}): SourceChart {
  const chart = sourceChart({ source, language: "ts", deadlineMillis: 60_000, ...options });
  onTestFinished(() => chart.close());
  return chart;
}

export const generous = (): AbortSignal => AbortSignal.timeout(100_000);

/** What a chart makes of the application of that name. */
export const renderedBy = (chart: SourceChart, name = "web", more: object = {}): Promise<unknown[]> =>
  chart.render(application({}, { name }), site(more), generous());

/** What a chart of this text makes of the application web. */
export const renderedFrom = (source: string, options?: Partial<SourceOptions>): Promise<unknown[]> =>
  renderedBy(chartOf(source, options));

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
