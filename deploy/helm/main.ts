/** `npm run chart [-- --out <folder>] [--cluster <name>] [--one-account]`: writes the Helm chart. */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readSettings } from "denrei/runtime";
import { chartFiles } from "./chart.ts";
import { expectChartFolder, writeChart } from "./write.ts";

const { values } = parseArgs({
  options: {
    /** The folder to write to. Files of an earlier chart in it are removed. */
    out: { type: "string", default: fileURLToPath(new URL("./denrei", import.meta.url)) },
    /** The value of `DENREI_CLUSTER` in the processes. */
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
