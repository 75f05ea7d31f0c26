/** The alerts as Prometheus reads them, and as its operator does. */
import { type Alert, alerts, natsAlerts } from "./alerts.ts";
import { recordings } from "./queries.ts";

const operations = "docs/operations.md";

const alerting = ({ name, expr, holds, severity, summary, runbook }: Alert) => ({
  alert: name,
  expr,
  ...(holds !== undefined && { for: holds }),
  labels: { severity },
  annotations: { summary, runbook: `${operations}#${runbook}` },
});

/** A file of rules: https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/ */
export const ruleFile = () => ({
  groups: [
    { name: "denrei.rules", rules: Object.entries(recordings).map(([record, expr]) => ({ record, expr })) },
    { name: "denrei.alerts", rules: alerts.map(alerting) },
    { name: "denrei.nats", rules: natsAlerts.map(alerting) },
  ],
});

const labels = { "app.kubernetes.io/name": "denrei", "app.kubernetes.io/part-of": "denrei" };

/** The same for the Prometheus Operator, and which pods it is to ask: ours, and exporters beside the NATS servers. */
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
