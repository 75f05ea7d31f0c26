/** The chart of whoever has none of their own. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Chart, ChartError } from "./chart.ts";
import chart from "./default/chart.ts";

/** The text of the built-in chart: TypeScript that `sourceChart` runs as it is, to start a chart of one's own from. */
export const builtinSource: string = readFileSync(new URL("./default/chart.ts", import.meta.url), "utf8");

/** The built-in chart, in this process: it needs no other, and takes no time to speak of. */
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
