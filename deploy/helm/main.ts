/** `npm run chart [-- --out <folder>] [--cluster <name>] [--one-account]`: writes the Helm chart. */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readSettings } from "../../bus/config/config.ts";
import { chartFiles } from "./chart.ts";
import { expectChartFolder, writeChart } from "./write.ts";

const { values } = parseArgs({
  options: {
    /** Its folder; what is there of another chart is removed. */
    out: { type: "string", default: fileURLToPath(new URL("./denrei", import.meta.url)) },
    /** What processes call their cluster: `DENREI_CLUSTER`. */
    cluster: { type: "string" },
    /** All users of the bus in one account (docs/decisions/0025-an-account-for-each-role.md). */
    "one-account": { type: "boolean" },
  },
});
const { cluster } = readSettings(["cluster"], { cluster: values.cluster }, {});

// Rendering takes seconds, so a wrong folder is rejected first.
await expectChartFolder(values.out);
await writeChart(values.out, await chartFiles({ cluster, oneAccount: values["one-account"] }));
console.log(`wrote the chart to ${values.out}`);
