/** Which chart renders an Application, and what it is told of it. What it made is remembered. */
import { digestOf } from "../../../bus/digest.ts";
import type { Stored } from "../../../bus/kube/object.ts";
import { Recent } from "../../../bus/recent.ts";
import { builtinChart } from "../charts/builtin.ts";
import type { Chart, ChartApplication } from "../charts/chart.ts";
import { sourceChart } from "../charts/source.ts";
import { type ChildObject, checkedObjects } from "../charts/validate.ts";
import type { Application } from "../kinds/application.ts";
import { annotations } from "../names.ts";
import type { Site } from "../site/site.ts";
import { wantedImage } from "./status.ts";

/** Annotations that say nothing of the application: each change of them would be another rendering. */
const isNoise = (name: string): boolean =>
  name === annotations.refreshedAt ||
  name.startsWith("kubectl.kubernetes.io/") ||
  name.startsWith("applied.denrei.dev/");

/** What a chart is told of an Application. */
export function chartInput({ apiVersion, kind, metadata, spec }: Stored<Application>): ChartApplication {
  const { name, namespace = "", uid, labels = {}, annotations: noted = {} } = metadata;
  const image = wantedImage({ spec } as Application);
  const { pinnedImage: _, image: __, ...rest } = spec;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      uid,
      labels,
      annotations: Object.fromEntries(Object.entries(noted).filter(([key]) => !isNoise(key))),
    },
    spec: { ...rest, ...(image !== undefined && { image }) },
  };
}

const charts = new Recent<Chart>({ keptMillis: 3_600_000, limit: 4 });
const renderings = new Recent<readonly ChildObject[]>({ keptMillis: 600_000, limit: 2000 });

function chartOf({ chart }: Site): Chart {
  if (chart === undefined) return builtinChart;
  const id = digestOf(chart);
  const known = charts.get(id);
  if (known !== undefined) return known;
  const opened = sourceChart(chart);
  charts.set(id, opened);
  return opened;
}

/** The objects that the site's chart makes of an Application. Throws a `ChartError`. */
export async function objectsOf(
  app: Stored<Application>,
  site: Site,
  signal: AbortSignal,
): Promise<readonly ChildObject[]> {
  const chart = chartOf(site);
  const input = chartInput(app);
  const id = digestOf({ chart: chart.id, site: site.config.site, input });
  const known = renderings.get(id);
  if (known !== undefined) return known;
  const rendered = await chart.render(input, site.config.site, signal);
  const objects = checkedObjects(rendered, { namespace: input.metadata.namespace });
  renderings.set(id, objects);
  return objects;
}
