/** What the dashboard shows, row by row. */
import { place } from "./queries.ts";

/** Lines of a panel: what to ask, and how each series is called. */
export interface Line {
  readonly expr: string;
  readonly legend: string;
}

/** One graph. */
export interface Panel {
  readonly title: string;
  /** As Grafana calls it: `s`, `ops`, `short`, `bytes`, `percentunit`. */
  readonly unit: "s" | "ops" | "short" | "bytes" | "percentunit";
  readonly lines: readonly Line[];
}

/** A row of graphs. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Labels of everything that is chosen at the top; those of a function are added by the metric's own name for it. */
const chosen = 'cluster=~"$cluster", namespace=~"$namespace"';
const ofName = `${chosen}, name=~"$function"`;
const ofController = `${chosen}, controller=~"$function"`;
/** NATS may be scraped in another namespace. */
const ofBus = 'cluster=~"$cluster"';

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
/** The same figure from each bridge. */
const queue = (gauge: string): string => `max by (name) (${gauge}{${ofName}})`;

/** The rows, from the outside to the inside. */
export const rows: readonly Row[] = [
  {
    title: "The whole",
    panels: [
      panel("Processes that are not ready", "short", [
        `count by (${place}, instance) (denrei_ready{${chosen}} == 0)`,
        "{{instance}}",
      ]),
      panel("Events in, by kind", "ops", [rate(`denrei_bridge_events_total{${chosen}}`, "kind"), "{{kind}}"]),
      panel(
        "Waiting: requests, and events that nobody has looked at",
        "short",
        [queue("workqueue_depth"), "{{name}}"],
        [queue("denrei_events_waiting"), "{{name}}, events"],
      ),
      panel("Reconciles", "ops", [
        `sum by (controller) (denrei:reconciles:rate5m{${ofController}})`,
        "{{controller}}",
      ]),
    ],
  },
  {
    title: "Reconciles",
    panels: [
      panel("Time of a reconcile, p99", "s", [
        `max by (controller) (denrei:reconcile_seconds:p99_5m{${ofController}})`,
        "{{controller}}",
      ]),
      panel("Results", "ops", [
        rate(`controller_runtime_reconcile_total{${ofController}}`, "controller, result"),
        "{{controller}} {{result}}",
      ]),
      panel(
        "Errors",
        "ops",
        [`sum by (controller) (denrei:reconcile_errors:rate5m{${ofController}})`, "{{controller}}"],
        [
          rate(`controller_runtime_terminal_reconcile_errors_total{${ofController}}`, "controller"),
          "{{controller}}, not retried",
        ],
        [rate(`workqueue_retries_total{${ofName}}`, "name"), "{{name}}, retried"],
      ),
      panel(
        "Under way, and how many may be",
        "short",
        [`sum by (controller) (controller_runtime_active_workers{${ofController}})`, "{{controller}}"],
        [
          `sum by (controller) (controller_runtime_max_concurrent_reconciles{${ofController}})`,
          "{{controller}}, at most",
        ],
      ),
    ],
  },
  {
    title: "Queues",
    panels: [
      panel("From request to reconcile, p99", "s", [
        `max by (name) (denrei:queue_seconds:p99_5m{${ofName}})`,
        "{{name}}",
      ]),
      panel("Oldest request", "s", [queue("denrei_oldest_request_seconds"), "{{name}}"]),
      panel(
        "In hand, and in a second hand",
        "short",
        [queue("denrei_requests_in_flight"), "{{name}}"],
        [queue("denrei_requests_redelivered"), "{{name}}, delivered again"],
      ),
      panel("Delayed, and changed while in hand", "short", [queue("denrei_requests_scheduled"), "{{name}}"]),
      panel(
        "Requests made, and coalesced",
        "ops",
        [rate(`workqueue_adds_total{${ofName}}`, "name"), "{{name}}"],
        [rate(`denrei_requests_coalesced_total{${ofName}}`, "name"), "{{name}}, coalesced"],
      ),
      panel("Events of own writes that woke nobody", "ops", [
        rate(`denrei_own_events_total{${ofName}}`, "name"),
        "{{name}}",
      ]),
    ],
  },
  {
    title: "What goes wrong",
    panels: [
      panel("Dead letters", "short", [queue("denrei_dead_letters"), "{{name}}"]),
      panel("Given up, by reason", "ops", [
        rate(`denrei_dead_letters_total{${ofName}}`, "name, reason"),
        "{{name}} {{reason}}",
      ]),
      panel("Slowed down: hot loops", "ops", [
        rate(`denrei_requests_braked_total{${ofName}}`, "name"),
        "{{name}}",
      ]),
      panel(
        "Ownership lost, and messages stranded",
        "ops",
        [rate(`denrei_ownership_lost_total{${ofName}}`, "name"), "{{name}}, lost"],
        [rate(`denrei_messages_stranded_total{${ofName}}`, "name"), "{{name}}, stranded"],
      ),
    ],
  },
  {
    title: "Bridge",
    panels: [
      panel("Behind", "s", [`max by (kind) (denrei_bridge_behind_seconds{${chosen}})`, "{{kind}}"]),
      panel("From watch to bus, p99", "s", [
        p99("denrei_bridge_publish_seconds", chosen, "kind"),
        "{{kind}}",
      ]),
      panel("Who leads", "short", [`sum by (instance) (denrei_bridge_leading{${chosen}})`, "{{instance}}"]),
      panel("Objects", "short", [`max by (kind) (denrei_bridge_objects{${chosen}})`, "{{kind}}"]),
      panel(
        "Lists and watches",
        "ops",
        [rate(`denrei_bridge_lists_total{${chosen}}`, "kind"), "{{kind}}, lists"],
        [rate(`denrei_bridge_watches_total{${chosen}}`, "kind"), "{{kind}}, watches"],
      ),
      panel(
        "Refused, and too large",
        "short",
        [`sum by (kind) (denrei_bridge_refused{cluster=~"$cluster"})`, "{{kind}}, refused"],
        [
          `sum by (kind) (increase(denrei_bridge_oversized_total{${chosen}}[1h]))`,
          "{{kind}}, too large in an hour",
        ],
      ),
    ],
  },
  {
    title: "Gateway",
    panels: [
      panel("Requests, by outcome", "ops", [
        rate(`denrei_gateway_requests_total{${chosen}}`, "outcome, code"),
        "{{outcome}} {{code}}",
      ]),
      panel("To the answer, p99", "s", [
        p99("denrei_gateway_request_seconds", chosen, "namespace"),
        "{{namespace}}",
      ]),
      panel("Webhooks that functions took", "ops", [
        rate(`denrei_webhooks_total{${ofName}}`, "name, event"),
        "{{name}} {{event}}",
      ]),
    ],
  },
  {
    title: "Dashboard",
    panels: [
      panel("Requests, by class of the code", "ops", [
        rate(`denrei_dashboard_requests_total{${chosen}}`, "code"),
        "{{code}}",
      ]),
    ],
  },
  {
    title: "API server",
    panels: [
      panel("Calls, by method and code", "ops", [
        `sum by (method, code) (denrei:api_calls:rate5m{${chosen}})`,
        "{{method}} {{code}}",
      ]),
    ],
  },
  {
    title: "NATS",
    panels: [
      panel("Store, of what is allowed", "percentunit", [
        `jetstream_server_total_message_bytes{${ofBus}} / (jetstream_server_max_storage{${ofBus}} > 0)`,
        "{{server_name}}",
      ]),
      panel("Streams", "bytes", [
        `max by (stream_name) (jetstream_stream_total_bytes{${ofBus}})`,
        "{{stream_name}}",
      ]),
      panel("Messages", "short", [
        `max by (stream_name) (jetstream_stream_total_messages{${ofBus}})`,
        "{{stream_name}}",
      ]),
      panel("Not delivered yet", "short", [
        `max by (stream_name, consumer_name) (jetstream_consumer_num_pending{${ofBus}}) > 0`,
        "{{stream_name}} {{consumer_name}}",
      ]),
      panel("Not healthy", "short", [`gnatsd_healthz_status{${ofBus}}`, "{{server_id}}"]),
      panel(
        "Memory, and clients that are too slow",
        "bytes",
        [`gnatsd_varz_mem{${ofBus}}`, "{{server_id}}"],
        [`gnatsd_varz_slow_consumers{${ofBus}}`, "{{server_id}}, slow clients"],
      ),
    ],
  },
  {
    title: "Processes",
    panels: [
      panel("Memory", "bytes", [
        `process_resident_memory_bytes{${chosen}} and on (${place}, job, instance) denrei_ready`,
        "{{instance}}",
      ]),
      panel("CPU", "percentunit", [
        `rate(process_cpu_seconds_total{${chosen}}[$__rate_interval]) and on (${place}, job, instance) denrei_ready`,
        "{{instance}}",
      ]),
      panel("Event loop, p99", "s", [
        `nodejs_eventloop_lag_p99_seconds{${chosen}} and on (${place}, job, instance) denrei_ready`,
        "{{instance}}",
      ]),
      panel("Certificates expire in", "s", [
        `min by (certificate) (denrei_certificate_expires_seconds{${chosen}}) - time()`,
        "{{certificate}}",
      ]),
    ],
  },
];
