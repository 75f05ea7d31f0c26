/** `denrei chart`: prints the built-in chart, the objects that a chart renders, and the roles for the kinds that a site lists. */
import { readFile } from "node:fs/promises";
import { text as textOfStream } from "node:stream/consumers";
import application from "@denrei/functions/paas/application";
import { builtinChart, builtinSource } from "@denrei/functions/paas/charts/builtin";
import { type Chart, ChartError, chartApplication } from "@denrei/functions/paas/charts/chart";
import { childKinds } from "@denrei/functions/paas/charts/kinds";
import { sourceChart } from "@denrei/functions/paas/charts/source";
import { checkedObjects } from "@denrei/functions/paas/charts/validate";
import { Application } from "@denrei/functions/paas/kinds";
import { parseConfig, SiteConfigError, siteKeys, siteName } from "@denrei/functions/paas/site/config";
import { ConfigMap, checkObject, InvalidObjectError, type Stored } from "denrei/kinds";
import { connectCluster, isNotFound } from "denrei/kubernetes";
import { openProject, type Settings, UsageError } from "denrei/runtime";
import { parseAllDocuments } from "yaml";
import { type LayoutOptions, projectLayout } from "../generate/layout.ts";
import { accountsOf, listedManifests } from "../generate/rbac.ts";
import { yamlText } from "../generate/yaml.ts";

/** Prints the built-in chart. */
export const print = (): void => {
  process.stdout.write(builtinSource);
};

/** What to render with. Default: the built-in chart without settings. */
export interface RenderOptions {
  /** Path of a chart: `.ts` or `.js`. */
  readonly chart?: string;
  /** Path of a `config.yaml`, as in the site's ConfigMap. */
  readonly config?: string;
  /** A folder with `node_modules` and `imports`, as `DENREI_CHART_MODULES` names it for workers. */
  readonly modules?: string;
}

/** Prints the rendered objects of each Application in a file. Throws a `UsageError` if a file is not valid. */
export async function render(file: string, { chart: path, config, modules }: RenderOptions): Promise<void> {
  const { site, kinds } = settingsIn(config === undefined ? "" : await textOf(config));
  const chart: Chart & { close?(): Promise<void> } =
    path === undefined ? builtinChart : await chartIn(path, modules);
  try {
    for (const app of applicationsIn(await textOf(file), file)) {
      const input = chartApplication(app);
      const rendered = await chart.render(input, site, AbortSignal.timeout(60_000));
      const objects = checkedObjects(rendered, {
        namespace: input.metadata.namespace,
        allowed: [...childKinds, ...kinds],
      });
      process.stdout.write(`${yamlText(objects)}\n`);
    }
  } catch (error) {
    if (error instanceof ChartError) throw new UsageError(`${error.reason}: ${error.message}`);
    throw error;
  } finally {
    await chart.close?.();
  }
}

/** Options of `denrei chart rbac`. */
export interface RbacOptions extends LayoutOptions {
  /** Path of a `config.yaml`, or `-` for standard input. Default: the ConfigMap in the cluster. */
  readonly config?: string;
  /** Namespace of the service accounts and the ConfigMap. */
  readonly namespace: string;
  readonly json?: boolean;
}

/** Prints the roles for the kinds that the site lists. Throws a `UsageError` if the list is not valid. */
export async function rbac(
  { config, namespace, json = false, ...layout }: RbacOptions,
  settings: Settings<"kubeconfig" | "context">,
): Promise<void> {
  const { kinds } = settingsIn(
    config === undefined ? await configIn(namespace, settings) : await textOf(config),
  );
  const accounts = accountsOf(await projectLayout(await openProject(), layout));
  if (accounts.every(({ runs }) => runs.every(({ name }) => name !== application.name)))
    throw new UsageError(`the project has no function ${application.name}, which renders charts`);
  const manifests = listedManifests(accounts, application, { kinds, namespace });
  const printed = json
    ? JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }, null, 2)
    : yamlText(manifests);
  process.stdout.write(`${printed.trimEnd()}\n`);
  // Standard output is input for kubectl.
  if (kinds.length === 0)
    process.stderr.write(
      "The site lists no kinds. These roles are empty: applying them removes all rights granted before.\n",
    );
}

/** The site's settings in the cluster; empty without the ConfigMap. */
async function configIn(namespace: string, settings: Settings<"kubeconfig" | "context">): Promise<string> {
  const client = await connectCluster({ path: settings.kubeconfig, context: settings.context });
  try {
    const { data } = await client.get(ConfigMap, { namespace, name: siteName });
    return data?.[siteKeys.config] ?? "";
  } catch (error) {
    if (isNotFound(error)) return "";
    throw error;
  } finally {
    await client.connection.close();
  }
}

async function textOf(path: string): Promise<string> {
  if (path === "-") return textOfStream(process.stdin);
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${(error as Error).message}`);
  }
}

async function chartIn(path: string, modules: string | undefined) {
  const language = /\.(ts|js)$/.exec(path)?.[1] as "ts" | "js" | undefined;
  if (language === undefined) throw new UsageError(`${path} is not a chart: its name must end in .ts or .js`);
  return sourceChart({ source: await textOf(path), language, modules });
}

function settingsIn(text: string) {
  try {
    return parseConfig(text);
  } catch (error) {
    if (error instanceof SiteConfigError) throw new UsageError(error.message);
    throw error;
  }
}

function documentsIn(text: string, file: string): unknown[] {
  try {
    return [...parseAllDocuments(text)].map((document) => {
      const [error] = document.errors;
      if (error !== undefined) throw error;
      // An unknown alias is an error only here.
      return document.toJS() as unknown;
    });
  } catch (error) {
    throw new UsageError(`${file} is not valid YAML: ${(error as Error).message.trim()}`);
  }
}

function applicationsIn(text: string, file: string): Stored<Application>[] {
  const documents = documentsIn(text, file);
  const found = documents.filter(
    (document): document is Application => (document as Application | null)?.kind === Application.kind,
  );
  if (found.length === 0) throw new UsageError(`${file} has no Application`);
  return found.map((app) => {
    const { name = "", namespace = "default" } = app.metadata ?? {};
    const metadata = { ...app.metadata, name, namespace, uid: `uid-of-${name}`, resourceVersion: "1" };
    try {
      const checked = checkObject(Application, { ...app, metadata });
      // Applies the defaults, as the API server would.
      return { ...checked, spec: Application.definition?.spec.parse(checked.spec) as Application["spec"] };
    } catch (error) {
      if (error instanceof InvalidObjectError)
        throw new UsageError(`${name || "?"} in ${file}: ${error.message}`);
      throw error;
    }
  });
}
