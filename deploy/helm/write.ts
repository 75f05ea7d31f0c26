/** The chart's files on disk. */
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UsageError } from "denrei/runtime";
import type { ChartFiles } from "./chart.ts";

/** Throws a {@link UsageError} when the folder holds something other than a chart. A missing folder is fine. */
export async function expectChartFolder(folder: string): Promise<void> {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code !== "ENOENT") throw error;
    return [];
  });
  if (found.length > 0 && !found.includes("Chart.yaml")) {
    throw new UsageError(
      `expected ${folder} to be empty or to hold a chart, found ${found.slice(0, 5).join(", ")}: choose another with --out`,
    );
  }
}

/** Replaces the content of the folder with the chart. Throws when the folder holds something other than a chart. */
export async function writeChart(folder: string, files: ChartFiles): Promise<void> {
  await expectChartFolder(folder);
  await rm(folder, { recursive: true, force: true });
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}
