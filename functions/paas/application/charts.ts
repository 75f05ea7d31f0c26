/** Which chart there is: a program that the worker was told of, else that of the site, else the built-in one. */
import { z } from "zod";
import { digestOf } from "../../../bus/values/digest.ts";
import { Recent } from "../../../bus/values/recent.ts";
import { builtinChart } from "../charts/builtin.ts";
import { type Chart, ChartError } from "../charts/chart.ts";
import { processChart } from "../charts/process.ts";
import { sourceChart } from "../charts/source.ts";
import type { Site } from "../site/site.ts";

/** A list of words in JSON: there is no shell that would split a line. */
const commandVariable = "DENREI_CHART_COMMAND";
const directoryVariable = "DENREI_CHART_DIRECTORY";

/** A folder with `node_modules` and `imports`, from which charts of the site may import. */
const modulesVariable = "DENREI_CHART_MODULES";

/** Charts whose processes may be at work. One that has been replaced ends by itself, when it has nothing more to do. */
const opened = new Recent<Chart>({ keptMillis: 3_600_000, limit: 4 });

/** The chart to render with. Throws a {@link ChartError} when the worker was told of a program in a way that is none. */
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
      `expected ${commandVariable} to be a list of words in JSON such as ["node","main.js"], found ${text}. Set it for the workers of modoki-application.`,
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
