/** `npm run chart [-- --out <folder>]`: writes the Helm chart. */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chartFiles } from "./chart.ts";
import { writeChart } from "./write.ts";

const { values } = parseArgs({
  options: {
    /** Its folder; what is there of another chart is removed. */
    out: { type: "string", default: fileURLToPath(new URL("./denrei", import.meta.url)) },
  },
});

await writeChart(values.out, await chartFiles());
console.log(`wrote the chart to ${values.out}`);
