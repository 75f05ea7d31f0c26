/** Selects the chart: the program in the worker's environment, else the site's chart, else the built-in one. */
import { digestOf, Recent, z } from "denrei";
import { builtinChart } from "../charts/builtin.ts";
import { type Chart, ChartError } from "../charts/chart.ts";
import { processChart } from "../charts/process.ts";
import { sourceChart } from "../charts/source.ts";
import type { Site } from "../site/site.ts";

/** Command line as a JSON array: no shell splits it. */
const commandVariable = "DENREI_CHART_COMMAND";
const directoryVariable = "DENREI_CHART_DIRECTORY";

/** Folder with `node_modules` and `imports`, from which the site's chart may import. */
const modulesVariable = "DENREI_CHART_MODULES";

/** Charts whose processes may be running. A replaced chart ends its process when that is idle. */
const opened = new Recent<Chart>({ keptMillis: 3_600_000, limit: 4 });

/** The chart to render with. Throws a {@link ChartError} when the command line in the environment is invalid. */
export function chartOf(
  { chart }: Site,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Chart {
  const command = env[commandVariable];
  if (command) return known(`${command} ${env[directoryVariable]}`, () => programOf(command, env));
  if (chart === undefined) return builtinChart;
  const modules = env[modulesVariable] || undefined;
  return known(digestOf([chart, modules ?? ""]), () => sourceChart({ ...chart, modules }));
}

function known(id: string, open: () => Chart): Chart {
  const found = opened.get(id) ?? open();
  opened.set(id, found);
  return found;
}

function programOf(text: string, env: Readonly<Record<string, string | undefined>>): Chart {
  const words = wordsIn(text);
  const [command, ...args] = words ?? [];
  if (command === undefined)
    throw new ChartError(
      "ChartNotLoaded",
      `${commandVariable} must be a JSON array of strings such as ["node","main.js"], found ${text}. Set it for the workers of modoki-application.`,
    );
  return processChart({ command, args, directory: env[directoryVariable] ?? process.cwd() });
}

function wordsIn(text: string): readonly string[] | undefined {
  try {
    return z.array(z.string()).safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
