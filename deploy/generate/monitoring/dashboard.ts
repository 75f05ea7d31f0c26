/** Renders the dashboard as Grafana's JSON model: https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/ */
import { type Panel, type Row, rows } from "./panels.ts";

const datasource = { type: "prometheus", uid: "$" + "{datasource}" };
const columns = 24;
const height = 8;

/** The whole document; `mark` names its generator. */
export const dashboard = (mark: string) => ({
  title: "Denrei",
  uid: "denrei",
  description: `${mark}. Metrics and alerts are explained in docs/operations.md.`,
  tags: ["denrei"],
  schemaVersion: 39,
  version: 1,
  editable: true,
  graphTooltip: 1,
  refresh: "30s",
  time: { from: "now-3h", to: "now" },
  templating: {
    list: [
      { name: "datasource", label: "Prometheus", type: "datasource", query: "prometheus" },
      variable("cluster", "Cluster", "label_values(denrei_ready, cluster)"),
      variable("namespace", "Namespace", 'label_values(denrei_ready{cluster=~"$cluster"}, namespace)'),
      variable(
        "function",
        "Function",
        'label_values(denrei_oldest_request_seconds{namespace=~"$namespace"}, name)',
        // Not `.*`, which would include other operators with the same metric names.
        null,
      ),
    ],
  },
  annotations: { list: [] },
  panels: placed(rows),
});

/** A variable that defaults to All. `.*` also matches series without the label. */
function variable(name: string, label: string, query: string, allValue: string | null = ".*") {
  return {
    name,
    label,
    type: "query",
    datasource,
    query: { query, refId: name },
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue,
    current: { text: ["All"], value: ["$__all"] },
  };
}

/** Stacks the rows; up to four panels share a line, more are wrapped after three. */
function placed(all: readonly Row[]): object[] {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: graphs } of all) {
    panels.push({
      id: panels.length + 1,
      type: "row",
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: columns, h: 1 },
    });
    y++;
    const perLine = graphs.length > 4 ? 3 : graphs.length;
    const w = columns / perLine;
    for (const [at, graph] of graphs.entries()) {
      const gridPos = { x: (at % perLine) * w, y: y + Math.floor(at / perLine) * height, w, h: height };
      panels.push({ id: panels.length + 1, ...graphPanel(graph), gridPos });
    }
    y += Math.ceil(graphs.length / perLine) * height;
  }
  return panels;
}

const graphPanel = ({ title, unit, lines }: Panel) => ({
  type: "timeseries",
  title,
  datasource,
  fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 8, showPoints: "never" } }, overrides: [] },
  options: {
    legend: { displayMode: "list", placement: "bottom", showLegend: true },
    tooltip: { mode: "multi", sort: "desc" },
  },
  targets: lines.map(({ expr, legend }, at) => ({
    refId: String.fromCharCode(65 + at),
    datasource,
    expr,
    legendFormat: legend,
    range: true,
  })),
});
