/** `denrei helm` */
import { openProject, say } from "denrei/runtime";
import { type BusScope, chartFiles, chartParts } from "../helm/chart.ts";
import { expectChartFolder, writeChart } from "../helm/write.ts";

/** Writes the Helm chart of the project. Throws when the folder holds something other than a chart. */
export async function helm({ out, ...bus }: BusScope & { readonly out: string }): Promise<void> {
  // Rendering takes seconds, so a wrong folder is rejected first.
  await expectChartFolder(out);
  await writeChart(out, chartFiles(await chartParts(await openProject(), bus)));
  say(`wrote the chart to ${out}`);
}
