/** A worker process: runs functions against one cluster. Its replicas are interchangeable. */
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { openInFlight } from "../activity/inflight.ts";
import { type ActivityReporter, activityReporter } from "../activity/reporter.ts";
import { isDebugged } from "../config/debugger.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Kind } from "../kube/kind.ts";
import { type BusClock, machineClock } from "../nats/busclock.ts";
import type { Bus, BusAddress } from "../nats/connect.ts";
import type { Delivery } from "../nats/delivery.ts";
import { openIndexes } from "../objects/indexes.ts";
import { keepIndexesTidy } from "../objects/indextidy.ts";
import { objectStore } from "../objects/store.ts";
import { startProcessClock } from "../process/clock.ts";
import { openCrashRecords } from "../queue/crashrecords.ts";
import { deadLetterCleanup } from "../queue/deadlettercleanup.ts";
import { deadLetters as openDeadLetters } from "../queue/deadletters.ts";
import { type Pull, startPull } from "../queue/pull.ts";
import { ticketQueue } from "../queue/queue.ts";
import { startRelay } from "../queue/relay.ts";
import { searchStranded } from "../queue/stranded.ts";
import { startSweep } from "../queue/sweep.ts";
import { timers as openTimers } from "../queue/timers.ts";
import {
  advisories,
  consumers,
  keyText,
  type ObjectKey,
  type QueueScope,
  streams,
  ticketAdvisories,
  timersStream,
  workStream,
} from "../subjects.ts";
import { type BusOptions, ensureFunctions, routeAckWaitMillis } from "../topology.ts";
import { shareOrigins } from "../tracing/origins.ts";
import { type BrakeLimits, brake, defaultBrake } from "./brake.ts";
import { openEchoes } from "./echoes.ts";
import { defaultRetries, type RetryLimits } from "./failures.ts";
import { readLive } from "./firstread.ts";
import { interestOf, interestsOf, type ReconcileFunction } from "./function.ts";
import { debuggedWarning, type Keeper, keeperGone, startKeeper } from "./keeper.ts";
import { workerMetrics } from "./metrics.ts";
import { keepOwnership, type Ownership } from "./ownership.ts";
import { ownWrites } from "./ownwrites.ts";
import { Reconciler } from "./reconciler.ts";
import { eventRecorder } from "./recorder.ts";
import { routes } from "./routes.ts";

/** Options of a worker. */
export interface WorkerOptions {
  readonly bus: Bus;
  /** The address of that bus: under a debugger, a worker uses it to keep its tickets while it is stopped. */
  readonly address?: BusAddress;
  readonly busOptions: BusOptions;
  readonly client: KubeClient;
  /** The name of the cluster on a bus that several clusters share. */
  readonly cluster: string;
  /** The name of this process in logs, Events, and marks. Unique among the replicas. */
  readonly replica: string;
  readonly functions: readonly ReconcileFunction[];
  readonly log: Logger;
  readonly registry: Registry;
  readonly retries?: RetryLimits;
  readonly brake?: BrakeLimits;
}

/** A running worker. */
export interface Worker {
  /** The consumer that the bus has refused to serve for some seconds, and why; undefined while all are served. */
  notReady(): string | undefined;
  /** Stops pulling, lets running reconciles finish, and hands back those that take too long. */
  stop(): Promise<void>;
}

const routerSlots = 128;
const relaySlots = 32;
/** A consumer that is refused for longer makes the worker not ready; a leader election takes less. Milliseconds. */
const refusedMillis = 5000;
/** How long running reconciles may continue after a stop. Milliseconds. */
const finishMillis = 6000;

/**
 * Starts a worker; resolves when it is ready to take requests. Throws a `TopologyError` if the worker may not create streams and
 * consumers, and the bridge has not created them yet.
 */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { bus, functions, cluster } = options;
  await ensureFunctions(bus, options.busOptions, interestsOf(functions, cluster));
  const metrics = workerMetrics(options.registry);
  const [first] = functions;
  const unshare = first && shareOrigins(bus.nc, { fn: first.name, cluster });
  const { ackWaitMillis } = options.busOptions;
  const ownership = keepOwnership(bus.nc, ackWaitMillis, await keeperOf(options));
  const report = activityReporter(bus.nc);
  const ending = new AbortController();
  const clock = await clockOf(options, ending.signal);
  const running = functions.map((fn) =>
    startFunction(fn, options, { metrics, ownership, report: report, clock }),
  );
  options.log.info({ functions: functions.map((fn) => fn.name), cluster }, "worker ready");
  return {
    notReady: () => running.map((fn) => fn.notReady()).find((reason) => reason !== undefined),
    async stop() {
      await Promise.all(running.map((fn) => fn.stop()));
      ending.abort();
      ownership.stop();
      unshare?.();
    },
  };
}

async function keeperOf({ address, busOptions, log }: WorkerOptions): Promise<Keeper | undefined> {
  if (!isDebugged() || address === undefined) return undefined;
  log.warn(debuggedWarning);
  return startKeeper(address, busOptions.ackWaitMillis, (error) => log.error({ err: error }, keeperGone));
}

/** Reads the time from any consumer of this worker. */
async function clockOf(
  { bus, functions, cluster, log, registry }: WorkerOptions,
  signal: AbortSignal,
): Promise<BusClock> {
  const [fn] = functions;
  if (fn === undefined) return machineClock;
  const consumer = consumers.worker({ fn: fn.name, cluster });
  return startProcessClock({ bus, signal, consumer, stream: workStream(fn.name), log, registry });
}

/** Shared by all functions of a worker. */
interface Shared {
  readonly metrics: ReturnType<typeof workerMetrics>;
  readonly ownership: Ownership;
  readonly report: ActivityReporter;
  readonly clock: BusClock;
}

function startFunction(
  fn: ReconcileFunction,
  options: WorkerOptions,
  { metrics, ownership, report, clock }: Shared,
): Worker {
  const { bus, client, cluster, replica } = options;
  const log = options.log.child({ function: fn.name });
  const scope: QueueScope = { fn: fn.name, cluster };
  const name = { name: fn.name };
  const stopping = new AbortController();
  const queue = ticketQueue(bus, scope, {
    replica,
    clock,
    observe: ({ subject, tries, error }) =>
      log[tries === 1 ? "warn" : "debug"]({ subject, tries, err: error }, "publish not answered, retrying"),
  });
  const echoes = openEchoes(bus.nc, scope);
  ownership.onStale(echoes.forget);
  const recorder = eventRecorder(client, `denrei.dev/${fn.name}`, replica);
  const timers = openTimers(
    bus,
    queue,
    (error, key) => {
      // The durable timer still fires.
      if (!stopping.signal.aborted) log.warn({ err: error, key: keyText(key) }, "local timer not delivered");
    },
    clock,
  );
  const inFlight = openInFlight(bus.nc, scope, { replica, group: fn.for.group, kind: fn.for.kind });
  const store = objectStore(bus, cluster);
  const indexes = openIndexes(bus, scope, fn.for, fn.indexes, store);
  const deadLetters = openDeadLetters(bus, scope);
  const cleanup = deadLetterCleanup(bus.nc, scope, deadLetters);
  ownership.onStale(cleanup.forget);
  const reconciler = new Reconciler({
    tools: {
      fn,
      store,
      client,
      own: ownWrites(),
      written: echoes.written,
      recorder,
      replica,
      cluster,
      find: indexes.find,
      clock,
    },
    queue,
    timers,
    deadLetters,
    cleanup,
    crashRecords: openCrashRecords(bus, scope),
    ownership,
    echoes,
    brake: brake(options.brake ?? defaultBrake),
    retries: options.retries ?? defaultRetries,
    report,
    inFlight,
    metrics,
    log,
  });
  metrics.concurrency.set({ controller: fn.name }, fn.concurrency);
  // Rates are computed from an existing value.
  metrics.lost.inc({ name: fn.name }, 0);

  const pull = (
    stream: string,
    consumer: string,
    slots: number,
    handle: (delivery: Delivery) => Promise<void>,
  ): Pull =>
    startPull({
      bus,
      stream,
      consumer,
      slots,
      handle,
      onRefused: ({ times, code, description }) =>
        log[times === 1 ? "warn" : "debug"](
          { stream, consumer, code, description },
          "pull refused, retrying",
        ),
    });
  const onAdvisory = (subject: string, callback: () => void) =>
    bus.nc.subscribe(subject, { callback: (error) => (error === null ? callback() : undefined) });
  const advised = [
    ...ticketAdvisories(scope).map((subject) =>
      onAdvisory(subject, () =>
        ownership.loseAllOf(workStream(fn.name), "its stream or consumer was deleted"),
      ),
    ),
    onAdvisory(advisories.streamDeleted(streams.indexes), indexes.forget),
  ];
  ownership.onStale(indexes.forget);
  const tickets = pull(workStream(fn.name), consumers.worker(scope), fn.concurrency, (ticket) =>
    reconciler.handle(ticket),
  );
  const live = (kind: Kind, key: ObjectKey) => readLive(client, kind, key, stopping.signal);
  const deadline = { ackWaitMillis: routeAckWaitMillis(options.busOptions), signal: stopping.signal };
  setMaxListeners(0, stopping.signal);
  const route = routes({ fn, queue, echoes, indexes, live, clock, metrics, log, deadline });
  const router = consumers.router(interestOf(fn, cluster));
  const events = pull(streams.objects, router, routerSlots, route.change);
  const webhooks =
    Object.keys(fn.webhooks).length === 0
      ? undefined
      : pull(streams.webhooks, consumers.webhooks(scope), routerSlots, route.webhook);
  const searching = new AbortController();
  const sweep =
    fn.sweepMillis === undefined
      ? undefined
      : startSweep({
          bus,
          queue,
          kind: fn.for,
          everyMillis: fn.sweepMillis,
          clock,
          signal: searching.signal,
          onError: (error) => log.warn({ err: error }, "failed to schedule the sweep"),
        });
  const relay = startRelay({
    bus,
    queue,
    sweep,
    slots: relaySlots,
    deadline,
    onError: (error, subject) => log.error({ err: error, subject }, "failed to relay a due message"),
  });
  const tidied = keepIndexesTidy({
    ...{ bus, scope, kind: fn.for, definitions: fn.indexes, store, clock },
    signal: searching.signal,
    onError: (error) => log.warn({ err: error }, "failed to tidy the indexes"),
  });
  const search = searchStranded({
    bus,
    queue,
    clock,
    signal: searching.signal,
    onFound(subject) {
      metrics.stranded.inc(name);
      log.warn({ subject }, "stranded message found, requested again");
    },
    onError: (error) => log.warn({ err: error }, "failed to search for stranded messages"),
  });

  const pulls = [
    { stream: workStream(fn.name), consumer: consumers.worker(scope), pull: tickets },
    { stream: streams.objects, consumer: router, pull: events },
    { stream: streams.webhooks, consumer: consumers.webhooks(scope), pull: webhooks },
    { stream: timersStream(fn.name), consumer: consumers.relay(scope), pull: relay },
  ];

  return {
    notReady() {
      const now = performance.now();
      for (const { stream, consumer, pull: { refusal } = {} } of pulls) {
        if (refusal === undefined || now - refusal.since < refusedMillis) continue;
        const { code, description } = refusal;
        return (
          `the bus does not serve the consumer ${consumer} of ${stream}: ${code} ${description}. ` +
          "The bridge creates missing consumers: check that a bridge of this version is running."
        );
      }
      return undefined;
    },
    async stop() {
      for (const subscription of advised) subscription.unsubscribe();
      timers.stop();
      searching.abort();
      const drained = Promise.all([tickets.stop(), events.stop(), webhooks?.stop(), relay.stop()]);
      const finished = new AbortController();
      const late = sleep(finishMillis, undefined, { signal: finished.signal }).then(
        () => {
          reconciler.abort();
          stopping.abort();
        },
        () => undefined,
      );
      await drained;
      await Promise.all([search, sweep?.ended, tidied]);
      finished.abort();
      await late;
      echoes.stop();
      cleanup.stop();
      inFlight.stop();
      await recorder.flush();
    },
  };
}
