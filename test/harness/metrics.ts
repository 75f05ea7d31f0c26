/** Metrics of running replicas. */
import type { Replica } from "./environment.ts";

/** The sum of all samples whose name and labels match, over the replicas. */
export async function metricSum(replicas: readonly Replica[], sample: RegExp): Promise<number> {
  const texts = await Promise.all(
    replicas.map(async ({ log }) => {
      const { probes } = log.records().findLast((record) => typeof record.probes === "string") ?? {};
      return (await fetch(`${String(probes)}/metrics`)).text();
    }),
  );
  const lines = texts.flatMap((text) => text.split("\n")).filter((line) => sample.test(line));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
