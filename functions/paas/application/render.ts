/** Renders an Application, and caches the result. */
import { digestOf, Recent, type Stored } from "denrei";
import { chartApplication } from "../charts/chart.ts";
import { childKinds } from "../charts/kinds.ts";
import { type ChildObject, checkedObjects } from "../charts/validate.ts";
import type { Application } from "../kinds/application.ts";
import type { Site } from "../site/site.ts";
import { chartOf } from "./charts.ts";

const renderings = new Recent<readonly ChildObject[]>({ keptMillis: 600_000, limit: 2000 });

/** The objects that the site's chart renders for an Application. Throws a `ChartError`. */
export async function objectsOf(
  app: Stored<Application>,
  site: Site,
  signal: AbortSignal,
): Promise<readonly ChildObject[]> {
  const chart = chartOf(site);
  const input = chartApplication(app);
  const { site: settings, kinds } = site.config;
  const id = digestOf({ chart: chart.id, site: settings, kinds, input });
  const known = renderings.get(id);
  if (known !== undefined) return known;
  const rendered = await chart.render(input, settings, signal);
  const allowed = [...childKinds, ...kinds];
  const objects = checkedObjects(rendered, { namespace: input.metadata.namespace, allowed });
  renderings.set(id, objects);
  return objects;
}
