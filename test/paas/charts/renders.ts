/** Renders once, prints the pid of the chart's process, and waits to be killed. */
import { sourceChart } from "../../../functions/paas/charts/source.ts";
import { application } from "./expected.ts";
import { site } from "./sites.ts";

const chart = sourceChart({ source: "export default () => [];", language: "ts" });
await chart.render(application(), site(), AbortSignal.timeout(60_000));
console.log(chart.pid);
setInterval(() => {}, 60_000);
