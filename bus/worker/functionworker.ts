/** Runs one function in a worker process: its consumers, its reconciler, and its background tasks. */
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Subscription } from "@nats-io/transport-node";
import type { Logger } from "pino";
import { type InFlight, openInFlight } from "../activity/inflight.ts";
import type { ActivityReporter } from "../activity/reporter.ts";
import type { KubeClient } from "../kube/client.ts";
import type { BusClock } from "../nats/busclock.ts";
import type { Bus } from "../nats/connect.ts";
import type { Delivery } from "../nats/delivery.ts";
import { type Indexes, openIndexes } from "../objects/indexes.ts";
import { keepIndexesTidy } from "../objects/indextidy.ts";
import { type ObjectStore, objectStore } from "../objects/store.ts";
import { openWatchRecords } from "../objects/watchrecords.ts";
import { openCrashRecords } from "../queue/crashrecords.ts";
import { type DeadLetterCleanup, deadLetterCleanup } from "../queue/deadlettercleanup.ts";
import { type DeadLetters, deadLetters } from "../queue/deadletters.ts";
import { type Pull, startPull } from "../queue/pull.ts";
import { type TicketQueue, ticketQueue } from "../queue/queue.ts";
import { startRelay } from "../queue/relay.ts";
import { searchStranded } from "../queue/stranded.ts";
import { type Sweep, startSweep } from "../queue/sweep.ts";
import { type Timers, timers } from "../queue/timers.ts";
import { consumers, keyText, type QueueScope, streams, timersStream, workStream } from "../subjects.ts";
import { advisories, ticketAdvisories } from "../topology/advisories.ts";
import { type BusOptions, routeAckWaitMillis } from "../topology.ts";
import { type BrakeLimits, brake, defaultBrake } from "./brake.ts";
import { type Echoes, openEchoes } from "./echoes.ts";
import { defaultRetries, type RetryLimits } from "./failures.ts";
import { readLive } from "./firstread.ts";
import { type ReconcileFunction, subscriptionOf } from "./function.ts";
import type { WorkerMetrics } from "./metrics.ts";
import type { Ownership } from "./ownership.ts";
import { ownWrites } from "./ownwrites.ts";
import { Reconciler } from "./reconciler.ts";
import { eventRecorder, type Recorder } from "./recorder.ts";
import { routes } from "./routes.ts";

/** Options of a worker that all its functions need. */
export interface FunctionWorkerOptions {
  readonly bus: Bus;
  readonly busOptions: BusOptions;
  readonly client: KubeClient;
  /** The name of the cluster on a bus that several clusters share. */
  readonly cluster: string;
  /** The name of this process in logs, Events, and marks. Unique among the replicas. */
  readonly replica: string;
  readonly log: Logger;
  readonly retries?: RetryLimits;
  readonly brake?: BrakeLimits;
}

/** The parts that all functions of a worker share. */
export interface SharedParts {
  readonly metrics: WorkerMetrics;
  readonly ownership: Ownership;
  readonly report: ActivityReporter;
  readonly clock: BusClock;
}

/** The parts of one function. */
interface Parts {
  readonly queue: TicketQueue;
  readonly echoes: Echoes;
  readonly recorder: Recorder;
  readonly timers: Timers;
  readonly inFlight: InFlight;
  readonly store: ObjectStore;
  readonly indexes: Indexes;
  readonly deadLetters: DeadLetters;
  readonly cleanup: DeadLetterCleanup;
}

/** A pull and its consumer. */
interface ConsumerPull {
  readonly stream: string;
  readonly consumer: string;
  readonly pull: Pull;
}

const routerSlots = 128;
const relaySlots = 32;
/** If a consumer is refused for longer, the worker is not ready. A leader election takes less time. Milliseconds. */
const refusedMillis = 5000;
/** How long running reconciles may continue after a stop. Milliseconds. */
const finishMillis = 6000;

/** One function in a worker process. It runs from its construction on. */
export class FunctionWorker {
  readonly #fn: ReconcileFunction;
  readonly #scope: QueueScope;
  readonly #options: FunctionWorkerOptions;
  readonly #shared: SharedParts;
  readonly #log: Logger;
  /** Aborts when messages in flight must be handed back. */
  readonly #stopping = new AbortController();
  /** Aborts when the background tasks must end. */
  readonly #searching = new AbortController();
  readonly #parts: Parts;
  readonly #reconciler: Reconciler;
  readonly #advisories: readonly Subscription[];
  readonly #pulls: readonly ConsumerPull[];
  readonly #background: Promise<unknown>;

  constructor(fn: ReconcileFunction, options: FunctionWorkerOptions, shared: SharedParts) {
    this.#fn = fn;
    this.#scope = { fn: fn.name, cluster: options.cluster };
    this.#options = options;
    this.#shared = shared;
    this.#log = options.log.child({ function: fn.name });
    setMaxListeners(0, this.#stopping.signal);
    this.#parts = this.#openParts();
    const { metrics, ownership } = shared;
    for (const { forget } of [this.#parts.echoes, this.#parts.cleanup, this.#parts.indexes])
      ownership.onStale(forget);
    this.#reconciler = this.#openReconciler();
    metrics.concurrency.set({ controller: fn.name }, fn.concurrency);
    // Start the counter at 0, so that its first increase is visible.
    metrics.lost.inc({ name: fn.name }, 0);
    this.#advisories = this.#subscribeAdvisories();
    const sources = [this.#pullTickets(), ...this.#pullEvents()];
    const sweep = this.#startSweep();
    this.#pulls = [...sources, this.#startRelay(sweep)];
    this.#background = Promise.all([this.#tidyIndexes(), this.#searchStranded(), sweep?.ended]);
  }

  /** The consumer that the bus has refused to serve for some seconds, and why; undefined while all are served. */
  notReady(): string | undefined {
    const now = performance.now();
    for (const { stream, consumer, pull } of this.#pulls) {
      const { refusal } = pull;
      if (refusal === undefined || now - refusal.since < refusedMillis) continue;
      const { code, description } = refusal;
      return (
        `the bus does not serve the consumer ${consumer} of ${stream}: ${code} ${description}. ` +
        "The bridge creates missing consumers: check that a bridge of this version is running."
      );
    }
    return undefined;
  }

  /** Stops pulling, lets running reconciles finish, and hands back those that take too long. */
  async stop(): Promise<void> {
    const { echoes, cleanup, inFlight, recorder } = this.#parts;
    for (const subscription of this.#advisories) subscription.unsubscribe();
    this.#parts.timers.stop();
    this.#searching.abort();
    const drained = Promise.all(this.#pulls.map(({ pull }) => pull.stop()));
    const finished = new AbortController();
    const late = sleep(finishMillis, undefined, { signal: finished.signal }).then(
      () => {
        this.#reconciler.abort();
        this.#stopping.abort();
      },
      () => undefined,
    );
    await drained;
    await this.#background;
    finished.abort();
    await late;
    echoes.stop();
    cleanup.stop();
    inFlight.stop();
    await recorder.flush();
  }

  #openParts(): Parts {
    const { bus, client, cluster, replica } = this.#options;
    const { clock } = this.#shared;
    const [fn, scope, log] = [this.#fn, this.#scope, this.#log];
    const queue = ticketQueue(bus, scope, {
      replica,
      clock,
      observe: ({ subject, tries, error }) =>
        log[tries === 1 ? "warn" : "debug"]({ subject, tries, err: error }, "publish not answered, retrying"),
    });
    const store = objectStore(bus, cluster);
    const stored = deadLetters(bus, scope);
    return {
      queue,
      echoes: openEchoes(bus.nc, scope),
      recorder: eventRecorder(client, `denrei.dev/${fn.name}`, replica),
      timers: timers(
        bus,
        queue,
        (error, key) => {
          // The durable timer still fires.
          if (this.#stopping.signal.aborted) return;
          log.warn({ err: error, key: keyText(key) }, "local timer not delivered");
        },
        clock,
      ),
      inFlight: openInFlight(bus.nc, scope, { replica, group: fn.for.group, kind: fn.for.kind }),
      store,
      indexes: openIndexes(bus, scope, fn.for, fn.indexes, store),
      deadLetters: stored,
      cleanup: deadLetterCleanup(bus.nc, scope, stored),
    };
  }

  #openReconciler(): Reconciler {
    const { bus, client, cluster, replica } = this.#options;
    const { metrics, ownership, report, clock } = this.#shared;
    const { queue, echoes, recorder, timers, inFlight, store, indexes, deadLetters, cleanup } = this.#parts;
    return new Reconciler({
      tools: {
        ...{ fn: this.#fn, store, client, recorder, replica, cluster, clock },
        own: ownWrites(),
        written: echoes.written,
        find: indexes.find,
      },
      ...{ queue, timers, deadLetters, cleanup, ownership, echoes, report, inFlight, metrics },
      crashRecords: openCrashRecords(bus, this.#scope),
      brake: brake(this.#options.brake ?? defaultBrake),
      retries: this.#options.retries ?? defaultRetries,
      log: this.#log,
    });
  }

  /** Reacts to deleted streams and consumers. */
  #subscribeAdvisories(): Subscription[] {
    const { nc } = this.#options.bus;
    const { ownership } = this.#shared;
    const subscribe = (subject: string, callback: () => void) =>
      nc.subscribe(subject, { callback: (error) => (error === null ? callback() : undefined) });
    const loseTickets = () =>
      ownership.loseAllOf(workStream(this.#fn.name), "its stream or consumer was deleted");
    return [
      ...ticketAdvisories(this.#scope).map((subject) => subscribe(subject, loseTickets)),
      subscribe(advisories.streamDeleted(streams.indexes), this.#parts.indexes.forget),
    ];
  }

  #pullTickets(): ConsumerPull {
    const consumer = consumers.worker(this.#scope);
    return this.#pull(workStream(this.#fn.name), consumer, this.#fn.concurrency, (ticket) =>
      this.#reconciler.handle(ticket),
    );
  }

  #pullEvents(): ConsumerPull[] {
    const { bus, client, cluster } = this.#options;
    const { clock, metrics } = this.#shared;
    const { queue, echoes, indexes } = this.#parts;
    const [fn, log] = [this.#fn, this.#log];
    const route = routes({
      ...{ fn, queue, echoes, indexes, clock, metrics, log, deadline: this.#deadline() },
      records: openWatchRecords(bus, this.#scope),
      live: (kind, key) => readLive(client, kind, key, this.#stopping.signal),
    });
    const router = consumers.router(subscriptionOf(fn, cluster));
    const events = this.#pull(streams.objects, router, routerSlots, route.change);
    if (fn.webhooks.length === 0) return [events];
    return [
      events,
      this.#pull(streams.webhooks, consumers.webhooks(this.#scope), routerSlots, route.webhook),
    ];
  }

  #pull(
    stream: string,
    consumer: string,
    slots: number,
    handle: (delivery: Delivery) => Promise<void>,
  ): ConsumerPull {
    const { bus } = this.#options;
    const pull = startPull({
      ...{ bus, stream, consumer, slots, handle },
      onRefused: ({ times, code, description }) =>
        this.#log[times === 1 ? "warn" : "debug"](
          { stream, consumer, code, description },
          "pull refused, retrying",
        ),
    });
    return { stream, consumer, pull };
  }

  #startSweep(): Sweep | undefined {
    const { sweepMillis } = this.#fn;
    if (sweepMillis === undefined) return undefined;
    return startSweep({
      bus: this.#options.bus,
      queue: this.#parts.queue,
      kind: this.#fn.for,
      everyMillis: sweepMillis,
      clock: this.#shared.clock,
      signal: this.#searching.signal,
      onError: (error) => this.#log.warn({ err: error }, "failed to schedule the sweep"),
    });
  }

  #startRelay(sweep: Sweep | undefined): ConsumerPull {
    const pull = startRelay({
      bus: this.#options.bus,
      queue: this.#parts.queue,
      sweep,
      slots: relaySlots,
      deadline: this.#deadline(),
      onError: (error, subject) => this.#log.error({ err: error, subject }, "failed to relay a due message"),
    });
    return { stream: timersStream(this.#fn.name), consumer: consumers.relay(this.#scope), pull };
  }

  #deadline() {
    return {
      ackWaitMillis: routeAckWaitMillis(this.#options.busOptions),
      signal: this.#stopping.signal,
    };
  }

  async #tidyIndexes(): Promise<void> {
    const { indexes = [], filters = [] } = subscriptionOf(this.#fn, this.#scope.cluster);
    // Others may not read INDEXES.
    if (indexes.length + filters.length === 0) return;
    await keepIndexesTidy({
      bus: this.#options.bus,
      scope: this.#scope,
      kind: this.#fn.for,
      definitions: this.#fn.indexes,
      store: this.#parts.store,
      clock: this.#shared.clock,
      signal: this.#searching.signal,
      onError: (error) => this.#log.warn({ err: error }, "failed to tidy the indexes"),
    });
  }

  #searchStranded(): Promise<void> {
    return searchStranded({
      bus: this.#options.bus,
      queue: this.#parts.queue,
      clock: this.#shared.clock,
      signal: this.#searching.signal,
      onFound: (subject) => {
        this.#shared.metrics.stranded.inc({ name: this.#fn.name });
        this.#log.warn({ subject }, "stranded message found, requested again");
      },
      onError: (error) => this.#log.warn({ err: error }, "failed to search for stranded messages"),
    });
  }
}
