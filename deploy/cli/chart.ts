/** `denrei chart`: the built-in chart as a text to start from, and what a chart makes of an Application. */
import { readFile } from "node:fs/promises";
import { parse, parseAllDocuments } from "yaml";
import { checkObject, InvalidObjectError } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { builtinChart, builtinSource } from "../../functions/paas/charts/builtin.ts";
import { type Chart, ChartError, chartApplication } from "../../functions/paas/charts/chart.ts";
import { sourceChart } from "../../functions/paas/charts/source.ts";
import { checkedObjects } from "../../functions/paas/charts/validate.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { parseConfig, SiteConfigError } from "../../functions/paas/site/config.ts";
import { yamlText } from "../generate/yaml.ts";
import { UsageError } from "./usage.ts";

/** Prints the built-in chart. */
export const print = (): void => {
  process.stdout.write(builtinSource);
};

/** What to render with; without them, the built-in chart and no settings. */
export interface RenderOptions {
  /** Path of a chart: `.ts` or `.js`. */
  readonly chart?: string;
  /** Path of a `config.yaml`, as in the ConfigMap of the site. */
  readonly config?: string;
}

/** Prints the objects of each Application in a file. Throws a `UsageError` where something in the files is wrong. */
export async function render(file: string, { chart: path, config }: RenderOptions): Promise<void> {
  const { site } = settingsIn(config === undefined ? "" : await textOf(config));
  const chart: Chart & { close?(): Promise<void> } = path === undefined ? builtinChart : await chartIn(path);
  try {
    for (const app of applicationsIn(await textOf(file), file)) {
      const input = chartApplication(app);
      const rendered = await chart.render(input, site, AbortSignal.timeout(60_000));
      const objects = checkedObjects(rendered, { namespace: input.metadata.namespace });
      process.stdout.write(`${yamlText(objects)}\n`);
    }
  } catch (error) {
    if (error instanceof ChartError) throw new UsageError(`${error.reason}: ${error.message}`);
    throw error;
  } finally {
    await chart.close?.();
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(`expected a file ${path} that can be read: ${(error as Error).message}`);
  }
}

async function chartIn(path: string) {
  const language = /\.(ts|js)$/.exec(path)?.[1] as "ts" | "js" | undefined;
  if (language === undefined)
    throw new UsageError(`expected a chart whose name ends in .ts or .js, found ${path}`);
  return sourceChart({ source: await textOf(path), language });
}

function settingsIn(text: string) {
  try {
    return parseConfig(text);
  } catch (error) {
    if (error instanceof SiteConfigError) throw new UsageError(error.message);
    throw error;
  }
}

function applicationsIn(text: string, file: string): Stored<Application>[] {
  const documents = parseAllDocuments(text).map((document) => parse(String(document)) as unknown);
  const found = documents.filter(
    (document): document is Application => (document as Application | null)?.kind === Application.kind,
  );
  if (found.length === 0) throw new UsageError(`expected an Application in ${file}, found none`);
  return found.map((app) => {
    const { name = "", namespace = "default" } = app.metadata ?? {};
    const metadata = { ...app.metadata, name, namespace, uid: `uid-of-${name}`, resourceVersion: "1" };
    try {
      const checked = checkObject(Application, { ...app, metadata });
      // What the API server would fill in.
      return { ...checked, spec: Application.definition?.spec.parse(checked.spec) as Application["spec"] };
    } catch (error) {
      if (error instanceof InvalidObjectError)
        throw new UsageError(`${name || "?"} in ${file}: ${error.message}`);
      throw error;
    }
  });
}
