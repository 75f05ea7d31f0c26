/** The built-in chart. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Chart, ChartError } from "./chart.ts";
import chart from "./default/chart.ts";

/** Source of the built-in chart: TypeScript that `sourceChart` runs unchanged, as a starting point for a site's own chart. */
export const builtinSource: string = readFileSync(new URL("default/chart.ts", import.meta.url), "utf8");

/** The built-in chart, run in this process. It is trusted and fast. */
export const builtinChart: Chart = {
  id: `builtin:${createHash("sha256").update(builtinSource).digest("hex").slice(0, 16)}`,
  async render(app, config, signal) {
    signal.throwIfAborted();
    try {
      return chart({ app, config });
    } catch (error) {
      throw new ChartError("ChartThrew", error instanceof Error ? error.message : String(error), {
        cause: error,
      });
    }
  },
};
