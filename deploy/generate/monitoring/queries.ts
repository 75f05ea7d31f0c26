/** PromQL shared by alerts and dashboard. */

/** Labels that identify an installation. A label that Prometheus does not set has no effect. */
export const installation = "cluster, namespace";

/**
 * Restricts samples to Denrei's processes. Every operator serves `controller_runtime_*`, `workqueue_*`, and
 * `rest_client_*`, but only Denrei serves `denrei_ready`.
 */
export const onlyDenrei = (samples: string, marker = "denrei_ready"): string =>
  `(${samples} and on (${installation}, job, instance) ${marker})`;

/** Installations that report the metric. */
export const installationsWith = (metric: string): string => `group by (${installation}) (${metric})`;

/** A queue gauge by function name. Every bridge reports the same value. */
export const queueGauge = (gauge: string): string => `max by (${installation}, name) ${onlyDenrei(gauge)}`;

/** Recording rules: name to expression. */
export const recordings: Readonly<Record<string, string>> = {
  "denrei:reconciles:rate5m": `sum by (${installation}, controller) ${onlyDenrei("rate(controller_runtime_reconcile_total[5m])")}`,
  "denrei:reconcile_errors:rate5m": `sum by (${installation}, controller) ${onlyDenrei("rate(controller_runtime_reconcile_errors_total[5m])")}`,
  "denrei:reconcile_seconds:p99_5m": `histogram_quantile(0.99, sum by (${installation}, controller, le) ${onlyDenrei("rate(controller_runtime_reconcile_time_seconds_bucket[5m])")})`,
  "denrei:queue_seconds:p99_5m": `histogram_quantile(0.99, sum by (${installation}, name, le) ${onlyDenrei("rate(workqueue_queue_duration_seconds_bucket[5m])")})`,
  "denrei:api_calls:rate5m": `sum by (${installation}, code, method) ${onlyDenrei("rate(rest_client_requests_total[5m])")}`,
  // The exporter of a dead server keeps reporting its other metrics unchanged.
  "denrei:nats_servers:count": `count by (${installation}) (gnatsd_healthz_status)`,
};
