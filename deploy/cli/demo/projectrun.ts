/** `denrei up` in a project without the sample of Denrei's own functions. */
import { once } from "node:events";
import { join, relative } from "node:path";
import type { Kind } from "denrei/kinds";
import { definedKinds, openProject, say, UsageError } from "denrei/runtime";
import { grantRoles } from "../../environment/grants.ts";
import { count } from "../../environment/progress.ts";
import { samplesOf } from "../layout.ts";
import { webhookProviders } from "../named.ts";
import { quoted } from "../quoted.ts";
import type { Demo, DemoOptions } from "./definition.ts";
import { guide, programIn } from "./guide.ts";
import { planDashboard } from "./songdemo.ts";

/** Runs all functions of the project. Throws a `UsageError` if it has none. */
export async function projectRun(options: DemoOptions): Promise<Demo> {
  const { workers = 3 } = options;
  const { folder, file, functionNames, all } = await openProject();
  if (functionNames.length === 0)
    throw new UsageError(
      `${file} lists no functions. Create one: npx denrei new function greeting --for Greeting`,
    );
  const kinds = definedKinds(await all());
  const [first, ...others] = await webhookProviders();
  const { dashboard, notice } = planDashboard(options);
  return {
    parts: {
      workers,
      functions: ["all"],
      gateways: first === undefined ? 0 : 1,
      providers: first && [first, ...others],
      dashboard,
    },
    async run(environment, _display, signal) {
      const { client, origin } = environment;
      if (environment.dashboard && origin === "local")
        await grantRoles(client, environment.dashboard.users, client.connection.namespace);
      const run = functionNames.length === 1 ? "runs" : "run";
      say(`\n${functionNames.join(", ")} ${run} on ${count(workers, "replica")}.`);
      if (notice !== undefined) say(notice);
      say(`${guide(environment, commandsFor(folder, functionNames, kinds))}\n`);
      if (!signal.aborted) await once(signal, "abort");
    },
  };
}

/** The most samples to list. */
const mostSamples = 5;

function commandsFor(folder: string, functions: readonly string[], kinds: readonly Kind[]): string[] {
  const samples = samplesOf(folder, functions).slice(0, mostSamples);
  const plurals = kinds.map(({ plural, group }) => `${plural}.${group}`);
  return [
    samples.length === 0
      ? "To show the objects and the queues:"
      : "To create the objects of the first cases, and to show the objects and the queues:",
    ...samples.map((path) => `    kubectl apply -f ${quoted(relative(process.cwd(), join(folder, path)))}`),
    ...(plurals.length === 0 ? [] : [`    kubectl get ${plurals.join(",")} -A`]),
    `    ${programIn(folder)} status`,
  ];
}
