/** Rows and panels of the Grafana dashboard. */
import { installation } from "./queries.ts";

/** A query of a panel and the legend of its series. */
export interface Line {
  readonly expr: string;
  readonly legend: string;
}

/** One graph. */
export interface Panel {
  readonly title: string;
  /** Grafana unit name. */
  readonly unit: "s" | "ops" | "short" | "bytes" | "percentunit";
  readonly lines: readonly Line[];
}

/** A row of graphs. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Label matchers of the dashboard's variables. Metrics name the function `name` or `controller`. */
const selected = 'cluster=~"$cluster", namespace=~"$namespace"';
const byName = `${selected}, name=~"$function"`;
const byController = `${selected}, controller=~"$function"`;
/** NATS may run in another namespace. */
const inCluster = 'cluster=~"$cluster"';

const panel = (
  title: string,
  unit: Panel["unit"],
  ...lines: readonly [expr: string, legend: string][]
): Panel => ({
  title,
  unit,
  lines: lines.map(([expr, legend]) => ({ expr, legend })),
});
const rate = (samples: string, by: string): string => `sum by (${by}) (rate(${samples}[$__rate_interval]))`;
const p99 = (histogram: string, labels: string, by: string): string =>
  `histogram_quantile(0.99, sum by (${by}, le) (rate(${histogram}_bucket{${labels}}[$__rate_interval])))`;
/** Every bridge reports the same value. */
const queue = (gauge: string): string => `max by (name) (${gauge}{${byName}})`;

/** The rows, from overview to detail. */
export const rows: readonly Row[] = [
  {
    title: "Overview",
    panels: [
      panel("Processes not ready", "short", [
        `count by (${installation}, instance) (denrei_ready{${selected}} == 0)`,
        "{{instance}}",
      ]),
      panel("Events in, by kind", "ops", [
        rate(`denrei_bridge_events_total{${selected}}`, "kind"),
        "{{kind}}",
      ]),
      panel(
        "Waiting requests and unrouted events",
        "short",
        [queue("workqueue_depth"), "{{name}}"],
        [queue("denrei_events_waiting"), "{{name}}, events"],
      ),
      panel("Reconciles", "ops", [
        `sum by (controller) (denrei:reconciles:rate5m{${byController}})`,
        "{{controller}}",
      ]),
    ],
  },
  {
    title: "Reconciles",
    panels: [
      panel("Reconcile duration, p99", "s", [
        `max by (controller) (denrei:reconcile_seconds:p99_5m{${byController}})`,
        "{{controller}}",
      ]),
      panel("Results", "ops", [
        rate(`controller_runtime_reconcile_total{${byController}}`, "controller, result"),
        "{{controller}} {{result}}",
      ]),
      panel(
        "Errors",
        "ops",
        [`sum by (controller) (denrei:reconcile_errors:rate5m{${byController}})`, "{{controller}}"],
        [
          rate(`controller_runtime_terminal_reconcile_errors_total{${byController}}`, "controller"),
          "{{controller}}, not retried",
        ],
        [rate(`workqueue_retries_total{${byName}}`, "name"), "{{name}}, retried"],
      ),
      panel(
        "Active reconciles and limit",
        "short",
        [`sum by (controller) (controller_runtime_active_workers{${byController}})`, "{{controller}}"],
        [
          `sum by (controller) (controller_runtime_max_concurrent_reconciles{${byController}})`,
          "{{controller}}, limit",
        ],
      ),
    ],
  },
  {
    title: "Queues",
    panels: [
      panel("Wait from request to reconcile, p99", "s", [
        `max by (name) (denrei:queue_seconds:p99_5m{${byName}})`,
        "{{name}}",
      ]),
      panel("Oldest request", "s", [queue("denrei_oldest_request_seconds"), "{{name}}"]),
      panel(
        "In flight and redelivered",
        "short",
        [queue("denrei_requests_in_flight"), "{{name}}"],
        [queue("denrei_requests_redelivered"), "{{name}}, redelivered"],
      ),
      panel("Delayed, and changed while in flight", "short", [
        queue("denrei_requests_scheduled"),
        "{{name}}",
      ]),
      panel(
        "Requests enqueued and coalesced",
        "ops",
        [rate(`workqueue_adds_total{${byName}}`, "name"), "{{name}}"],
        [rate(`denrei_requests_coalesced_total{${byName}}`, "name"), "{{name}}, coalesced"],
      ),
      panel("Events of own writes (ignored)", "ops", [
        rate(`denrei_own_events_total{${byName}}`, "name"),
        "{{name}}",
      ]),
    ],
  },
  {
    title: "Errors",
    panels: [
      panel("Dead letters", "short", [queue("denrei_dead_letters"), "{{name}}"]),
      panel("Dead-lettered, by reason", "ops", [
        rate(`denrei_dead_letters_total{${byName}}`, "name, reason"),
        "{{name}} {{reason}}",
      ]),
      panel("Throttled hot loops", "ops", [
        rate(`denrei_requests_braked_total{${byName}}`, "name"),
        "{{name}}",
      ]),
      panel(
        "Ownership lost and messages stranded",
        "ops",
        [rate(`denrei_ownership_lost_total{${byName}}`, "name"), "{{name}}, lost"],
        [rate(`denrei_messages_stranded_total{${byName}}`, "name"), "{{name}}, stranded"],
      ),
    ],
  },
  {
    title: "Bridge",
    panels: [
      panel("Lag", "s", [`max by (kind) (denrei_bridge_behind_seconds{${selected}})`, "{{kind}}"]),
      panel("From watch to bus, p99", "s", [
        p99("denrei_bridge_publish_seconds", selected, "kind"),
        "{{kind}}",
      ]),
      panel("Kinds led, by replica", "short", [
        `sum by (instance) (denrei_bridge_leading{${selected}})`,
        "{{instance}}",
      ]),
      panel("Objects", "short", [`max by (kind) (denrei_bridge_objects{${selected}})`, "{{kind}}"]),
      panel(
        "Lists and watches",
        "ops",
        [rate(`denrei_bridge_lists_total{${selected}}`, "kind"), "{{kind}}, lists"],
        [rate(`denrei_bridge_watches_total{${selected}}`, "kind"), "{{kind}}, watches"],
      ),
      panel(
        "Refused and too large",
        "short",
        [`sum by (kind) (denrei_bridge_refused{cluster=~"$cluster"})`, "{{kind}}, refused"],
        [
          `sum by (kind) (increase(denrei_bridge_oversized_total{${selected}}[1h]))`,
          "{{kind}}, too large in one hour",
        ],
      ),
    ],
  },
  {
    title: "Gateway",
    panels: [
      panel("Requests, by outcome", "ops", [
        rate(`denrei_gateway_requests_total{${selected}}`, "outcome, code"),
        "{{outcome}} {{code}}",
      ]),
      panel("Response time, p99", "s", [
        p99("denrei_gateway_request_seconds", selected, "namespace"),
        "{{namespace}}",
      ]),
      panel("Webhooks processed", "ops", [
        rate(`denrei_webhooks_total{${byName}}`, "name, event"),
        "{{name}} {{event}}",
      ]),
    ],
  },
  {
    title: "Dashboard",
    panels: [
      panel("Requests, by status code", "ops", [
        rate(`denrei_dashboard_requests_total{${selected}}`, "code"),
        "{{code}}",
      ]),
    ],
  },
  {
    title: "API server",
    panels: [
      panel("Calls, by method and code", "ops", [
        `sum by (method, code) (denrei:api_calls:rate5m{${selected}})`,
        "{{method}} {{code}}",
      ]),
    ],
  },
  {
    title: "NATS",
    panels: [
      panel("Used share of max_file_store", "percentunit", [
        `jetstream_server_total_message_bytes{${inCluster}} / (jetstream_server_max_storage{${inCluster}} > 0)`,
        "{{server_name}}",
      ]),
      panel("Stream size", "bytes", [
        `max by (stream_name) (jetstream_stream_total_bytes{${inCluster}})`,
        "{{stream_name}}",
      ]),
      panel("Stream messages", "short", [
        `max by (stream_name) (jetstream_stream_total_messages{${inCluster}})`,
        "{{stream_name}}",
      ]),
      panel("Undelivered messages", "short", [
        `max by (stream_name, consumer_name) (jetstream_consumer_num_pending{${inCluster}}) > 0`,
        "{{stream_name}} {{consumer_name}}",
      ]),
      panel("Unhealthy servers", "short", [`gnatsd_healthz_status{${inCluster}}`, "{{server_id}}"]),
      panel(
        "Memory and slow clients",
        "bytes",
        [`gnatsd_varz_mem{${inCluster}}`, "{{server_id}}"],
        [`gnatsd_varz_slow_consumers{${inCluster}}`, "{{server_id}}, slow clients"],
      ),
    ],
  },
  {
    title: "Processes",
    panels: [
      panel("Memory", "bytes", [
        `process_resident_memory_bytes{${selected}} and on (${installation}, job, instance) denrei_ready`,
        "{{instance}}",
      ]),
      panel("CPU", "percentunit", [
        `rate(process_cpu_seconds_total{${selected}}[$__rate_interval]) and on (${installation}, job, instance) denrei_ready`,
        "{{instance}}",
      ]),
      panel("Event loop lag, p99", "s", [
        `nodejs_eventloop_lag_p99_seconds{${selected}} and on (${installation}, job, instance) denrei_ready`,
        "{{instance}}",
      ]),
      panel(
        "Time to certificate expiry",
        "s",
        [
          `min by (certificate) (denrei_certificate_expires_seconds{${selected}}) - time()`,
          "{{certificate}}",
        ],
        [`min(denrei_admission_certificate_expires_seconds{${selected}}) - time()`, "admission"],
      ),
    ],
  },
];
