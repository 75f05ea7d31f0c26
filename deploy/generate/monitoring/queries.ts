/** PromQL that alerts and dashboard share. */

/** What tells installations apart; a label that a Prometheus does not set is the same for all. */
export const place = "cluster, namespace";

/**
 * Only samples of our processes: every operator serves `controller_runtime_*`, `workqueue_*` and `rest_client_*`, and
 * none but ours `denrei_ready`.
 */
export const ours = (samples: string, told = "denrei_ready"): string =>
  `(${samples} and on (${place}, job, instance) ${told})`;

/** Places where somebody tells of this. */
export const placesOf = (metric: string): string => `group by (${place}) (${metric})`;

/** The same figure from each bridge: of a function by its `name`. */
export const ofQueue = (gauge: string): string => `max by (${place}, name) ${ours(gauge)}`;

/** By the name of the series that keeps it. */
export const recordings: Readonly<Record<string, string>> = {
  "denrei:reconciles:rate5m": `sum by (${place}, controller) ${ours("rate(controller_runtime_reconcile_total[5m])")}`,
  "denrei:reconcile_errors:rate5m": `sum by (${place}, controller) ${ours("rate(controller_runtime_reconcile_errors_total[5m])")}`,
  "denrei:reconcile_seconds:p99_5m": `histogram_quantile(0.99, sum by (${place}, controller, le) ${ours("rate(controller_runtime_reconcile_time_seconds_bucket[5m])")})`,
  "denrei:queue_seconds:p99_5m": `histogram_quantile(0.99, sum by (${place}, name, le) ${ours("rate(workqueue_queue_duration_seconds_bucket[5m])")})`,
  "denrei:api_calls:rate5m": `sum by (${place}, code, method) ${ours("rate(rest_client_requests_total[5m])")}`,
  // Of a server that does not answer, its exporter goes on telling the rest as it was.
  "denrei:nats_servers:count": `count by (${place}) (gnatsd_healthz_status)`,
};
