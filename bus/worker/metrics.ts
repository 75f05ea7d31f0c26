/** Metrics of a worker. They use controller-runtime's names where the meaning is the same. */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** controller-runtime's buckets for reconcile times, in seconds. */
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const queueBuckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300];

const controller = ["controller"] as const;
const name = ["name"] as const;

/** Registers a worker's metrics. */
export const workerMetrics = (registry: Registry) => ({
  ...reconcileMetrics([registry]),
  ...queueMetrics([registry]),
  ...platformMetrics([registry]),
});

export type WorkerMetrics = ReturnType<typeof workerMetrics>;

/** Metrics of reconciles, under the names of controller-runtime. */
const reconcileMetrics = (registers: Registry[]) => ({
  reconciles: new Counter({
    name: "controller_runtime_reconcile_total",
    help: "Reconciles per function and result: success, error, requeue, or requeue_after.",
    labelNames: ["controller", "result"] as const,
    registers,
  }),
  errors: new Counter({
    name: "controller_runtime_reconcile_errors_total",
    help: "Reconciles that ended with an error.",
    labelNames: controller,
    registers,
  }),
  terminalErrors: new Counter({
    name: "controller_runtime_terminal_reconcile_errors_total",
    help: "Reconciles that ended with an error that is not retried.",
    labelNames: controller,
    registers,
  }),
  duration: new Histogram({
    name: "controller_runtime_reconcile_time_seconds",
    help: "Time of a reconcile, in seconds.",
    labelNames: controller,
    buckets: reconcileBuckets,
    registers,
  }),
  active: new Gauge({
    name: "controller_runtime_active_workers",
    help: "Running reconciles.",
    labelNames: controller,
    registers,
  }),
  concurrency: new Gauge({
    name: "controller_runtime_max_concurrent_reconciles",
    help: "Maximum number of concurrent reconciles in this process.",
    labelNames: controller,
    registers,
  }),
});

/** Metrics of the queue, under the names of client-go. */
const queueMetrics = (registers: Registry[]) => ({
  adds: new Counter({
    name: "workqueue_adds_total",
    help: "Requests that this process enqueued.",
    labelNames: name,
    registers,
  }),
  retries: new Counter({
    name: "workqueue_retries_total",
    help: "Reconciles that failed and will be retried.",
    labelNames: name,
    registers,
  }),
  waited: new Histogram({
    name: "workqueue_queue_duration_seconds",
    help: "Time from the request to the start of its reconcile, in seconds.",
    labelNames: name,
    buckets: queueBuckets,
    registers,
  }),
});

/** The platform's own metrics. */
const platformMetrics = (registers: Registry[]) => ({
  coalesced: new Counter({
    name: "denrei_requests_coalesced_total",
    help: "Requests that left a mark because the object was owned.",
    labelNames: name,
    registers,
  }),
  stranded: new Counter({
    name: "denrei_messages_stranded_total",
    help: "Tickets, marks, and delayed requests that the bus stored but no longer delivered, found by a search.",
    labelNames: name,
    registers,
  }),
  echoes: new Counter({
    name: "denrei_own_events_total",
    help: "Events of the function's own writes, dropped without a reconcile.",
    labelNames: name,
    registers,
  }),
  webhooks: new Counter({
    name: "denrei_webhooks_total",
    help: "Webhooks that were routed, including those that concern no object.",
    labelNames: ["name", "provider", "event"] as const,
    registers,
  }),
  lost: new Counter({
    name: "denrei_ownership_lost_total",
    help: "Reconciles aborted because another worker may own the object.",
    labelNames: name,
    registers,
  }),
  deadLetters: new Counter({
    name: "denrei_dead_letters_total",
    help: "Requests moved to dead letters.",
    labelNames: ["name", "reason"] as const,
    registers,
  }),
  braked: new Counter({
    name: "denrei_requests_braked_total",
    help: "Requests delayed because their object was reconciled in a hot loop.",
    labelNames: name,
    registers,
  }),
});
