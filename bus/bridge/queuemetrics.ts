/**
 * Queue lengths of all functions. The bridge reports them instead of the workers, because the queue of a function without
 * running workers matters most. Every replica reports the same values.
 */
import { JetStreamApiError } from "@nats-io/jetstream";
import type { Logger } from "pino";
import { Gauge, type Registry } from "prom-client";
import type { BusClock } from "../nats/busclock.ts";
import type { Bus } from "../nats/connect.ts";
import { countUnrouted } from "../queue/unrouted.ts";
import { consumers, streams, timersStream, work, workStream } from "../subjects.ts";
import type { FunctionSubscription } from "../topology.ts";

/** Options of {@link registerQueueMetrics}. */
export interface QueueMetricsOptions {
  readonly bus: Pick<Bus, "jsm">;
  readonly subscriptions: readonly FunctionSubscription[];
  /** The bus timestamps messages with its own clock. */
  readonly clock: Pick<BusClock, "now">;
  readonly log: Pick<Logger, "debug">;
  readonly registry: Registry;
}

/** A function's queue. */
interface QueueLength {
  /** Events, webhooks, and due requests that no worker has turned into tickets yet. */
  readonly unrouted: number;
  /** Tickets that wait for a free worker. */
  readonly waiting: number;
  readonly inFlight: number;
  /** In-flight tickets that were delivered before. */
  readonly redelivered: number;
  /** Age of the oldest ticket, in seconds; 0 without tickets. */
  readonly oldestSeconds: number;
  readonly scheduled: number;
  readonly deadLetters: number;
}

const gauges: Readonly<Record<keyof QueueLength, readonly [name: string, help: string]>> = {
  unrouted: ["denrei_events_waiting", "Events, webhooks, and due requests that no worker has routed yet."],
  waiting: ["workqueue_depth", "Requests waiting for a free worker."],
  inFlight: ["denrei_requests_in_flight", "Requests that a worker is processing."],
  redelivered: [
    "denrei_requests_redelivered",
    "In-flight requests that were delivered before: another worker died, was paused, or returned them.",
  ],
  oldestSeconds: [
    "denrei_oldest_request_seconds",
    "Age of the oldest waiting or in-flight request, in seconds; 0 without requests.",
  ],
  scheduled: [
    "denrei_requests_scheduled",
    "Delayed requests, and marks of objects that changed while they were reconciled.",
  ],
  deadLetters: ["denrei_dead_letters", "Dead-lettered requests that have not been replayed."],
};

/** Registers the gauges, which query the bus at each scrape. They are absent while the bus does not answer. */
export function registerQueueMetrics({
  bus,
  subscriptions,
  clock,
  log,
  registry,
}: QueueMetricsOptions): void {
  if (subscriptions.length === 0) return;
  let pending: Promise<ReadonlyMap<string, QueueLength>> | undefined;

  /** One query serves all gauges of a scrape, and concurrent scrapes. */
  const query = (): Promise<ReadonlyMap<string, QueueLength>> => {
    pending ??= lengths(bus, subscriptions, clock)
      .catch((error: unknown) => {
        log.debug({ err: error }, "failed to read queue lengths");
        return new Map<string, QueueLength>();
      })
      .finally(() => {
        pending = undefined;
      });
    return pending;
  };

  for (const [field, [name, help]] of Object.entries(gauges) as [keyof QueueLength, [string, string]][]) {
    new Gauge({
      name,
      help,
      labelNames: ["name"] as const,
      registers: [registry],
      async collect() {
        const found = await query();
        this.reset();
        for (const [fn, length] of found) this.set({ name: fn }, length[field]);
      },
    });
  }
}

async function lengths(
  { jsm }: Pick<Bus, "jsm">,
  subscriptions: readonly FunctionSubscription[],
  clock: Pick<BusClock, "now">,
): Promise<ReadonlyMap<string, QueueLength>> {
  const deadLetters = await deadLettersByFunction(jsm, subscriptions);
  const now = clock.now();
  const found = await Promise.all(
    subscriptions.map(async (subscription): Promise<[string, QueueLength] | undefined> => {
      const { scope } = subscription;
      const queries = Promise.all([
        countUnrouted({ jsm }, subscription),
        jsm.consumers.info(workStream(scope.fn), consumers.worker(scope)),
        jsm.streams.info(workStream(scope.fn)),
        jsm.streams.info(timersStream(scope.fn)),
      ]);
      const answers = await queries.catch(absent);
      if (answers === undefined) return undefined;
      const [unrouted, tickets, { state }, timers] = answers;
      return [
        scope.fn,
        {
          unrouted,
          waiting: tickets.num_pending,
          inFlight: tickets.num_ack_pending,
          redelivered: tickets.num_redelivered,
          oldestSeconds:
            state.messages === 0 ? 0 : Math.max(0, (now - Date.parse(String(state.first_ts))) / 1000),
          scheduled: timers.state.messages,
          deadLetters: deadLetters.get(scope.fn) ?? 0,
        },
      ];
    }),
  );
  return new Map(found.filter((one) => one !== undefined));
}

/** The function's streams were removed, so it has no metrics. Other functions keep theirs. */
function absent(error: unknown): undefined {
  if (error instanceof JetStreamApiError && error.status === 404) return undefined;
  throw error;
}

async function deadLettersByFunction(
  jsm: Bus["jsm"],
  subscriptions: readonly FunctionSubscription[],
): Promise<ReadonlyMap<string, number>> {
  const counted = new Map<string, number>();
  for (const cluster of new Set(subscriptions.map(({ scope }) => scope.cluster))) {
    const filter = { subjects_filter: work.everyDeadLetter(cluster) };
    const { state } = await jsm.streams.info(streams.deadLetters, filter);
    for (const subject of Object.keys(state.subjects ?? {})) {
      const fn = subject.split(".")[1] ?? "";
      counted.set(fn, (counted.get(fn) ?? 0) + 1);
    }
  }
  return counted;
}
