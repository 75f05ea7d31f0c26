/** What somebody has to look at. Each alert names the section of docs/operations.md that says what to do. */
import { ofQueue, ours, place, placesOf } from "./queries.ts";

/** A Prometheus alert. */
export interface Alert {
  readonly name: string;
  readonly expr: string;
  /** For how long it has to be so; at once unless given. */
  readonly holds?: string;
  /** `critical`: something stands still. `warning`: somebody waits, or soon will. `info`: a person has to decide. */
  readonly severity: "critical" | "warning" | "info";
  readonly summary: string;
  /** Anchor of its section in docs/operations.md. */
  readonly runbook: string;
}

const days = (n: number): number => n * 86_400;
/** What the figure never fell below in five minutes: between two moments of rest it is nobody's trouble. */
const allTheTime = (gauge: string): string => ofQueue(`min_over_time(${gauge}[5m])`);
const increase = (counter: string, range: string, by: string): string =>
  `sum by (${place}${by}) (increase(${counter}[${range}]))`;

/** What our processes tell. */
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
    // Who waits to be started again is not scraped meanwhile.
    expr: ours("changes(process_start_time_seconds[30m]) > 2", "last_over_time(denrei_ready[30m])"),
    severity: "warning",
    summary: "{{ $labels.instance }} was started {{ $value }} times in half an hour.",
    runbook: "a-worker-dies",
  },
  {
    name: "DenreiNoBridge",
    // The last is for when nothing at all is scraped any more, or never was.
    expr: `${placesOf("denrei_ready")} unless ${placesOf("denrei_bridge_leading")} or absent(denrei_ready)`,
    holds: "5m",
    severity: "critical",
    summary:
      "No bridge is scraped: no change of an object comes to the bus, or nobody knows whether it does.",
    runbook: "bridge-lag",
  },
  {
    name: "DenreiNoGateway",
    // Not everybody has one: there was one a day ago at most.
    expr: `${placesOf("last_over_time(denrei_gateway_requests_total[1d])")} unless ${placesOf("denrei_gateway_requests_total")}`,
    holds: "5m",
    severity: "critical",
    summary: "No gateway is scraped any more: GitHub is not answered, and does not send again by itself.",
    runbook: "webhooks-are-not-stored",
  },
  {
    name: "DenreiNoDashboard",
    // Not everybody has one: there was one a day ago at most.
    expr: `${placesOf("last_over_time(denrei_dashboard_requests_total[1d])")} unless ${placesOf("denrei_dashboard_requests_total")}`,
    holds: "5m",
    severity: "warning",
    summary: "No dashboard is scraped any more. Nothing but the page is missing.",
    runbook: "the-dashboard-does-not-answer",
  },
  {
    name: "DenreiDashboardFails",
    expr: `${increase('denrei_dashboard_requests_total{code=~"5.."}', "10m", "")} > 10`,
    severity: "warning",
    summary:
      "The dashboard has answered {{ $value }} requests in ten minutes with an error of its own, of the issuer or of the API server.",
    runbook: "the-dashboard-does-not-answer",
  },
  {
    name: "DenreiKindNotWatched",
    expr: `sum by (${place}, kind) (denrei_bridge_leading) == 0`,
    holds: "1m",
    severity: "critical",
    summary: "Every bridge stands by for {{ $labels.kind }}, and none watches it.",
    runbook: "bridge-lag",
  },
  {
    name: "DenreiBridgeBehind",
    expr: `max by (${place}, kind) (denrei_bridge_behind_seconds) > 60`,
    holds: "1m",
    severity: "warning",
    summary: "What the bus shows of {{ $labels.kind }} is {{ $value | humanizeDuration }} behind.",
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
      "A {{ $labels.kind }} does not fit into a message of the bus: functions read it from the API server instead, which is slower.",
    runbook: "an-object-is-too-large",
  },
  {
    name: "DenreiEventsWait",
    expr: `max by (${place}, name) (min_over_time(denrei_events_waiting[5m])) > 0`,
    holds: "5m",
    severity: "warning",
    summary:
      "{{ $labels.name }} has no worker, or too few: in five minutes never less than {{ $value }} events waited for one to look at them.",
    runbook: "requests-wait",
  },
  {
    name: "DenreiRequestsWait",
    expr: `${ofQueue("denrei_oldest_request_seconds")} > 300 and ${allTheTime("workqueue_depth")} > 0`,
    holds: "5m",
    severity: "warning",
    summary:
      "Requests of {{ $labels.name }} wait for a worker, the oldest for {{ $value | humanizeDuration }}.",
    runbook: "requests-wait",
  },
  {
    name: "DenreiKeyStuck",
    expr: `${ofQueue("denrei_oldest_request_seconds")} > 900 unless ${allTheTime("workqueue_depth")} > 0`,
    holds: "5m",
    severity: "warning",
    summary:
      "{{ $labels.name }} has not finished an object for {{ $value | humanizeDuration }}, while no other one has to wait for long.",
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
    expr: `${ofQueue("denrei_dead_letters")} > 0`,
    holds: "1m",
    severity: "warning",
    summary: "{{ $labels.name }} has given up {{ $value }} objects.",
    runbook: "dead-letters",
  },
  {
    name: "DenreiHotLoop",
    expr: `sum by (${place}, name) (rate(denrei_requests_braked_total[10m])) > 0`,
    holds: "15m",
    severity: "warning",
    summary: "{{ $labels.name }} wakes itself, or fights with another writer, and is slowed down.",
    runbook: "a-hot-loop",
  },
  {
    name: "DenreiClockSkew",
    expr: "abs(denrei_clock_offset_seconds) > 5",
    holds: "10m",
    severity: "warning",
    summary: "The clock of {{ $labels.instance }} and that of the NATS servers differ by {{ $value }} s.",
    runbook: "clock-skew",
  },
  {
    name: "DenreiOwnershipLost",
    expr: `${increase("denrei_ownership_lost_total", "15m", ", name")} > 10`,
    severity: "warning",
    summary: "{{ $labels.name }} had to break off {{ $value }} reconciles in a quarter of an hour.",
    runbook: "ownership-is-lost",
  },
  {
    name: "DenreiStrandedMessages",
    expr: `sum by (${place}, name) (rate(denrei_messages_stranded_total[10m])) > 0`,
    holds: "1h",
    severity: "info",
    summary: "For an hour workers of {{ $labels.name }} have found messages that the bus no longer delivers.",
    runbook: "after-a-nats-server-was-killed",
  },
  {
    name: "DenreiWebhooksNotStored",
    expr: `${increase('denrei_gateway_requests_total{outcome=~"not_stored|oversized|busy|failed"}', "10m", "")} > 0`,
    severity: "critical",
    summary: "Webhooks were not stored. GitHub does not send them again by itself.",
    runbook: "webhooks-are-not-stored",
  },
  {
    name: "DenreiWebhooksUnsigned",
    expr: `${increase('denrei_gateway_requests_total{outcome="unsigned"}', "1h", "")} > 20`,
    severity: "info",
    summary: "{{ $value }} webhooks in an hour were not signed with a secret that the gateway knows.",
    runbook: "webhooks-are-not-signed",
  },
  {
    name: "DenreiApiServerFails",
    expr: `sum by (${place}) (denrei:api_calls:rate5m{code=~"<error>|5.."}) / sum by (${place}) (denrei:api_calls:rate5m) > 0.1`,
    holds: "5m",
    severity: "critical",
    summary:
      "{{ $value | humanizePercentage }} of the calls to the API server are not answered, or with an error of its own.",
    runbook: "the-api-server-is-away",
  },
  {
    name: "DenreiCertificateExpires",
    expr: `min by (${place}, certificate, instance) (denrei_certificate_expires_seconds{certificate!="server"}) - time() < ${days(14)}`,
    severity: "warning",
    summary:
      "The certificate ({{ $labels.certificate }}) of {{ $labels.instance }} for the bus expires in {{ $value | humanizeDuration }}.",
    runbook: "rotation",
  },
  {
    name: "DenreiServerCertificateExpires",
    // Each look is at one of the servers.
    expr: `min by (${place}) (min_over_time(denrei_certificate_expires_seconds{certificate="server"}[1h])) - time() < ${days(14)}`,
    severity: "warning",
    summary:
      "The certificate that a NATS server shows expires in {{ $value | humanizeDuration }}. It may have a newer one that it has not read yet.",
    runbook: "rotation",
  },
];

/** What prometheus-nats-exporter tells (`-healthz -varz -jsz all`). */
export const natsAlerts: readonly Alert[] = [
  {
    name: "DenreiNatsNotHealthy",
    expr: 'gnatsd_healthz_status != 0 or gnatsd_healthz_status_value{value="unreachable"} == 0',
    holds: "2m",
    severity: "critical",
    summary:
      "The NATS server {{ $labels.server_id }} is not healthy: it does not answer, a stream of it is not current, or JetStream has no leader.",
    runbook: "nats-lost-its-quorum",
  },
  {
    name: "DenreiNatsServerMissing",
    expr: "denrei:nats_servers:count < max_over_time(denrei:nats_servers:count[1d])",
    holds: "5m",
    severity: "warning",
    summary: "{{ $value }} NATS servers are scraped, and there were more within the last day.",
    runbook: "nats-lost-its-quorum",
  },
  {
    name: "DenreiStreamFull",
    expr: "max by (namespace, stream) (denrei_stream_used_ratio) > 0.8",
    holds: "10m",
    severity: "warning",
    summary: "The stream {{ $labels.stream }} has taken {{ $value | humanizePercentage }} of its size limit.",
    runbook: "a-stream-is-full",
  },
  {
    name: "DenreiNatsStoreFull",
    expr: "jetstream_server_total_message_bytes / (jetstream_server_max_storage > 0) > 0.8",
    holds: "10m",
    severity: "warning",
    summary:
      "{{ $value | humanizePercentage }} of what the NATS server {{ $labels.server_name }} may store is used.",
    runbook: "nats-is-full",
  },
];
