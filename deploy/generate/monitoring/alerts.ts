/** Prometheus alerts. Each one links to its runbook in docs/operations.md. */
import { installation, installationsWith, onlyDenrei, queueGauge } from "./queries.ts";

/** A Prometheus alert. */
export interface Alert {
  readonly name: string;
  readonly expr: string;
  /** How long the expression must hold before the alert fires. Fires at once if unset. */
  readonly holds?: string;
  /** `critical`: work has stopped. `warning`: work is delayed, or soon will be. `info`: a person has to decide. */
  readonly severity: "critical" | "warning" | "info";
  readonly summary: string;
  /** Anchor of the runbook in docs/operations.md. */
  readonly runbook: string;
}

const days = (n: number): number => n * 86_400;
/** The lowest value in five minutes: a queue that empties in between is healthy. */
const lowest = (gauge: string): string => queueGauge(`min_over_time(${gauge}[5m])`);
const increase = (counter: string, range: string, by: string): string =>
  `sum by (${installation}${by}) (increase(${counter}[${range}]))`;

/** A warning while there is time for a renewal as planned, and a critical alert, `…Soon`, when nothing has renewed the certificate. */
const expiryAlerts = ({
  name,
  expires,
  summary,
}: Pick<Alert, "name" | "summary"> & { readonly expires: string }): Alert[] => [
  { name, expr: `${expires} - time() < ${days(21)}`, severity: "warning", summary, runbook: "rotation" },
  {
    name: `${name}Soon`,
    expr: `${expires} - time() < ${days(7)}`,
    severity: "critical",
    summary,
    runbook: "rotation",
  },
];

/** Alerts on the metrics of Denrei's own processes. */
export const alerts: readonly Alert[] = [
  {
    name: "DenreiNotReady",
    expr: "denrei_ready == 0",
    holds: "5m",
    severity: "warning",
    summary: "{{ $labels.instance }} is not ready. Its /readyz and its log say why.",
    runbook: "not-ready",
  },
  {
    name: "DenreiRestarts",
    // A process that waits for its restart is not scraped.
    expr: onlyDenrei("changes(process_start_time_seconds[30m]) > 2", "last_over_time(denrei_ready[30m])"),
    severity: "warning",
    summary: "{{ $labels.instance }} restarted {{ $value }} times in half an hour.",
    runbook: "a-worker-dies",
  },
  {
    name: "DenreiNoBridge",
    // `absent` covers a Prometheus that scrapes no process.
    expr: `${installationsWith("denrei_ready")} unless ${installationsWith("denrei_bridge_leading")} or absent(denrei_ready)`,
    holds: "5m",
    severity: "critical",
    summary: "No bridge is scraped: changes may not reach the bus.",
    runbook: "bridge-lag",
  },
  {
    name: "DenreiNoGateway",
    // Optional component: fires only if it was scraped within the last day.
    expr: `${installationsWith("last_over_time(denrei_gateway_requests_total[1d])")} unless ${installationsWith("denrei_gateway_requests_total")}`,
    holds: "5m",
    severity: "critical",
    summary: "No gateway is scraped: GitHub gets no answer and does not redeliver.",
    runbook: "webhooks-are-not-stored",
  },
  {
    name: "DenreiNoDashboard",
    // Optional component: fires only if it was scraped within the last day.
    expr: `${installationsWith("last_over_time(denrei_dashboard_requests_total[1d])")} unless ${installationsWith("denrei_dashboard_requests_total")}`,
    holds: "5m",
    severity: "warning",
    summary: "No dashboard is scraped. Only the web page is affected.",
    runbook: "the-dashboard-does-not-answer",
  },
  {
    name: "DenreiDashboardFails",
    expr: `${increase('denrei_dashboard_requests_total{code=~"5.."}', "10m", "")} > 10`,
    severity: "warning",
    summary:
      "The dashboard returned {{ $value }} server errors in ten minutes: its own, the issuer's, or the API server's.",
    runbook: "the-dashboard-does-not-answer",
  },
  {
    name: "DenreiKindNotWatched",
    expr: `sum by (${installation}, kind) (denrei_bridge_leading) == 0`,
    holds: "1m",
    severity: "critical",
    summary: "No bridge watches {{ $labels.kind }}.",
    runbook: "bridge-lag",
  },
  {
    name: "DenreiBridgeBehind",
    expr: `max by (${installation}, kind) (denrei_bridge_behind_seconds) > 60`,
    holds: "1m",
    severity: "warning",
    summary: "{{ $labels.kind }} objects on the bus are {{ $value | humanizeDuration }} behind.",
    runbook: "bridge-lag",
  },
  {
    name: "DenreiBridgeRefused",
    expr: "denrei_bridge_refused == 1",
    holds: "15m",
    severity: "info",
    summary:
      "The bridge lacks the rights to watch {{ $labels.kind }} in an opted-in namespace, or as a listed kind (*): {{ or $labels.exported_namespace $labels.namespace }}.",
    runbook: "a-refused-namespace",
  },
  {
    name: "DenreiObjectTooLarge",
    expr: `${increase("denrei_bridge_oversized_total", "1h", ", kind")} > 0`,
    severity: "info",
    summary:
      "A {{ $labels.kind }} is too large for a bus message: functions read it from the API server, which is slower.",
    runbook: "an-object-is-too-large",
  },
  {
    name: "DenreiEventsWait",
    expr: `max by (${installation}, name) (min_over_time(denrei_events_waiting[5m])) > 0`,
    holds: "5m",
    severity: "warning",
    summary:
      "{{ $labels.name }} has too few workers, or none: at least {{ $value }} events waited throughout the last five minutes.",
    runbook: "requests-wait",
  },
  {
    name: "DenreiRequestsWait",
    expr: `${queueGauge("denrei_oldest_request_seconds")} > 300 and ${lowest("workqueue_depth")} > 0`,
    holds: "5m",
    severity: "warning",
    summary:
      "Requests of {{ $labels.name }} wait for a worker, the oldest for {{ $value | humanizeDuration }}.",
    runbook: "requests-wait",
  },
  {
    name: "DenreiKeyStuck",
    expr: `${queueGauge("denrei_oldest_request_seconds")} > 900 unless ${lowest("workqueue_depth")} > 0`,
    holds: "5m",
    severity: "warning",
    summary:
      "{{ $labels.name }} has not finished an object for {{ $value | humanizeDuration }}, although its other objects do not wait.",
    runbook: "stuck-keys",
  },
  {
    name: "DenreiReconcileErrors",
    expr: "denrei:reconcile_errors:rate5m / denrei:reconciles:rate5m > 0.5",
    holds: "15m",
    severity: "warning",
    summary: "{{ $value | humanizePercentage }} of the reconciles of {{ $labels.controller }} fail.",
    runbook: "reconciles-fail",
  },
  {
    name: "DenreiDeadLetters",
    expr: `${queueGauge("denrei_dead_letters")} > 0`,
    holds: "1m",
    severity: "warning",
    summary: "{{ $labels.name }} has {{ $value }} dead letters.",
    runbook: "dead-letters",
  },
  {
    name: "DenreiHotLoop",
    expr: `sum by (${installation}, name) (rate(denrei_requests_braked_total[10m])) > 0`,
    holds: "15m",
    severity: "warning",
    summary: "{{ $labels.name }} triggers itself or conflicts with another writer, and is throttled.",
    runbook: "a-hot-loop",
  },
  {
    name: "DenreiClockSkew",
    expr: "abs(denrei_clock_offset_seconds) > 5",
    holds: "10m",
    severity: "warning",
    summary: "The clocks of {{ $labels.instance }} and the NATS servers differ by {{ $value }} s.",
    runbook: "clock-skew",
  },
  {
    name: "DenreiOwnershipLost",
    expr: `${increase("denrei_ownership_lost_total", "15m", ", name")} > 10`,
    severity: "warning",
    summary: "{{ $labels.name }} canceled {{ $value }} reconciles in 15 minutes because it lost ownership.",
    runbook: "ownership-is-lost",
  },
  {
    name: "DenreiStrandedMessages",
    expr: `sum by (${installation}, name) (rate(denrei_messages_stranded_total[10m])) > 0`,
    holds: "1h",
    severity: "info",
    summary:
      "For an hour, workers of {{ $labels.name }} have kept finding messages that the bus does not deliver.",
    runbook: "after-a-nats-server-was-killed",
  },
  {
    name: "DenreiWebhooksNotStored",
    expr: `${increase('denrei_gateway_requests_total{outcome=~"not_stored|oversized|busy|failed"}', "10m", "")} > 0`,
    severity: "critical",
    summary: "Webhooks were not stored. GitHub does not redeliver them automatically.",
    runbook: "webhooks-are-not-stored",
  },
  {
    name: "DenreiWebhooksUnsigned",
    expr: `${increase('denrei_gateway_requests_total{outcome="unsigned"}', "1h", "")} > 20`,
    severity: "info",
    summary: "{{ $value }} webhooks in an hour had no valid signature.",
    runbook: "webhooks-are-not-signed",
  },
  {
    name: "DenreiApiServerFails",
    expr: `sum by (${installation}) (denrei:api_calls:rate5m{code=~"<error>|5.."}) / sum by (${installation}) (denrei:api_calls:rate5m) > 0.1`,
    holds: "5m",
    severity: "critical",
    summary: "{{ $value | humanizePercentage }} of the API server calls get no answer or a server error.",
    runbook: "the-api-server-is-away",
  },
  ...expiryAlerts({
    name: "DenreiCertificateExpires",
    expires: `min by (${installation}, certificate, instance) (denrei_certificate_expires_seconds{certificate!="server"} or label_replace(denrei_admission_certificate_expires_seconds, "certificate", "admission", "", ""))`,
    summary:
      "The certificate ({{ $labels.certificate }}) of {{ $labels.instance }} expires in {{ $value | humanizeDuration }}.",
  }),
  ...expiryAlerts({
    name: "DenreiServerCertificateExpires",
    // Each sample shows the certificate of one server.
    expires: `min by (${installation}) (min_over_time(denrei_certificate_expires_seconds{certificate="server"}[1h]))`,
    summary:
      "The certificate that a NATS server presents expires in {{ $value | humanizeDuration }}. The server may not have reloaded a newer one.",
  }),
];

/** Alerts on prometheus-nats-exporter (`-healthz -varz -jsz all`). */
export const natsAlerts: readonly Alert[] = [
  {
    name: "DenreiNatsNotHealthy",
    expr: 'gnatsd_healthz_status != 0 or gnatsd_healthz_status_value{value="unreachable"} == 0',
    holds: "2m",
    severity: "critical",
    summary:
      "The NATS server {{ $labels.server_id }} is not healthy: it does not answer, has a stale stream, or JetStream has no leader.",
    runbook: "nats-lost-its-quorum",
  },
  {
    name: "DenreiNatsServerMissing",
    expr: "denrei:nats_servers:count < max_over_time(denrei:nats_servers:count[1d])",
    holds: "5m",
    severity: "warning",
    summary: "{{ $value }} NATS servers are scraped, fewer than in the last day.",
    runbook: "nats-lost-its-quorum",
  },
  {
    name: "DenreiStreamFull",
    expr: "max by (namespace, stream) (denrei_stream_used_ratio) > 0.8",
    holds: "10m",
    severity: "warning",
    summary: "The stream {{ $labels.stream }} is at {{ $value | humanizePercentage }} of its size limit.",
    runbook: "a-stream-is-full",
  },
  {
    name: "DenreiNatsStoreFull",
    expr: "jetstream_server_total_message_bytes / (jetstream_server_max_storage > 0) > 0.8",
    holds: "10m",
    severity: "warning",
    summary: "The NATS server {{ $labels.server_name }} uses {{ $value | humanizePercentage }} of its store.",
    runbook: "nats-is-full",
  },
];
