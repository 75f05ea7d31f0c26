/** Renders the alerts as a Prometheus rule file and as manifests of the Prometheus Operator. */
import { type Alert, alerts, natsAlerts } from "./alerts.ts";
import { recordings } from "./queries.ts";

const runbooks = "docs/operations.md";

const alerting = ({ name, expr, holds, severity, summary, runbook }: Alert) => ({
  alert: name,
  expr,
  ...(holds !== undefined && { for: holds }),
  labels: { severity },
  annotations: { summary, runbook: `${runbooks}#${runbook}` },
});

/** The rule file: https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/ */
export const ruleFile = () => ({
  groups: [
    { name: "denrei.rules", rules: Object.entries(recordings).map(([record, expr]) => ({ record, expr })) },
    { name: "denrei.alerts", rules: alerts.map(alerting) },
    { name: "denrei.nats", rules: natsAlerts.map(alerting) },
  ],
});

const labels = { "app.kubernetes.io/name": "denrei", "app.kubernetes.io/part-of": "denrei" };

/** The rules for the Prometheus Operator, and a PodMonitor for Denrei's pods and the NATS exporters. */
export const operatorManifests = (namespace: string): object[] => [
  {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name: "denrei", namespace, labels },
    spec: ruleFile(),
  },
  {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PodMonitor",
    metadata: { name: "denrei", namespace, labels },
    spec: {
      selector: { matchLabels: { "app.kubernetes.io/part-of": "denrei" } },
      podMetricsEndpoints: ["http", "metrics"].map((port) => ({ port, path: "/metrics" })),
    },
  },
];
