/** The chart's files on disk. */
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ChartFiles } from "./chart.ts";

/** Makes the folder where there is none. Throws when it holds something other than a chart. */
export async function expectChartFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const found = await readdir(folder);
  if (found.length > 0 && !found.includes("Chart.yaml")) {
    throw new Error(
      `expected ${folder} to be empty or to hold a chart, found ${found.slice(0, 5).join(", ")}: choose another with --out`,
    );
  }
}

/** Writes the chart to the folder, in the place of the chart that is there. Throws when something else is in it. */
export async function writeChart(folder: string, files: ChartFiles): Promise<void> {
  await expectChartFolder(folder);
  await rm(folder, { recursive: true });
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}
