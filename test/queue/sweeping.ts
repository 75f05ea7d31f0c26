/** Objects on a bus and functions that sweep them. */
import type { StoredMsg } from "@nats-io/jetstream";
import { externalKind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import type { Bus } from "../../bus/nats/connect.ts";
import type { Delivery } from "../../bus/nats/delivery.ts";
import { publishUntilAnswered } from "../../bus/queue/publish.ts";
import { type TicketQueue, ticketQueue } from "../../bus/queue/queue.ts";
import { startRelay } from "../../bus/queue/relay.ts";
import { type Sweep, startSweep } from "../../bus/queue/sweep.ts";
import { consumers, keyText, type QueueScope, sweeps, timersStream, workStream } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { startLocalBus } from "../harness/localbus.ts";
import { publisherOf, stored } from "../harness/publish.ts";

/** The swept kind. */
export const Thing = externalKind<KubeObject<object>>({
  group: "test.denrei.dev",
  version: "v1",
  kind: "Thing",
  plural: "things",
});
const Other = externalKind<KubeObject<object>>({ ...Thing, kind: "Other", plural: "others" });

/** The cluster of the objects. */
export const cluster = "test";
/** Names of the objects, and their sorted keys. */
export const names = Array.from({ length: 150 }, (_, at) => `thing-${at}`);
export const keys = names.map((name) => `default/${name}`).sort();

const busOptions = { replicas: 1, ackWaitMillis: 3000 };

/** One process of a function: its sweep and, optionally, its relay. */
export interface Process {
  readonly sweep: Sweep;
  /** Number of requests of its sweeps, by key. */
  readonly requested: ReadonlyMap<string, number>;
  /** Sequences of the due schedules that it received. */
  readonly due: ReadonlySet<number>;
  /** Results of its sweeps. */
  readonly swept: readonly string[];
  readonly errors: readonly unknown[];
  /** Stops like a worker: first the sweeps, then the messages. */
  stop(): Promise<void>;
}

/** Options of a process. */
export interface StartOptions {
  readonly everyMillis: number;
  /** Whether the process relays due messages. */
  readonly relay?: boolean;
  /** Replaces the method of the queue. */
  readonly request?: TicketQueue["requestUnlessOwned"];
  /** Replaces the direct reads of the bus. */
  readonly direct?: Partial<Bus["jsm"]["direct"]>;
}

/** A function with its own streams. */
export interface SweptFunction {
  readonly scope: QueueScope;
  /** Starts a process. Its tickets remain, unless `take` was called. */
  start(options: StartOptions): Process;
  /** Takes tickets like a worker until the test ends; returns their number by key. */
  take(): ReadonlyMap<string, number>;
  /** The function's schedule on the bus. */
  schedule(): Promise<StoredMsg | undefined>;
  /** When the schedule falls due. */
  dueAt(): Promise<number>;
  /** Number of messages in the timers stream, by subject. */
  inStream(): Promise<Record<string, number>>;
  /** Publishes a due schedule, as the bus would. */
  fire(): Promise<number>;
}

/** A bus with 150 objects of one kind, and one of another. */
export interface Sweeping {
  readonly bus: Bus;
  /** Creates the streams of a function. */
  of(fn: string): Promise<SweptFunction>;
  /** Registers a cleanup for the end of the test. */
  atEnd(end: () => Promise<void>): void;
  /** Runs the cleanups of a test, in reverse order. */
  end(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server and publishes the objects. */
export async function startSweeping(): Promise<Sweeping> {
  const local = await startLocalBus();
  const { bus } = local;
  await ensureTopology(bus, busOptions);
  const things = await publisherOf(bus, Thing);
  for (const [at, name] of names.entries())
    await things.publish("added", stored(Thing, name, at + 1, {}), "watch");
  await things.settled();
  const others = await publisherOf(bus, Other);
  await others.publish("added", stored(Other, "other", 1, {}), "watch");
  await others.settled();
  const running: (() => Promise<void>)[] = [];
  return {
    bus,
    async of(fn) {
      const scope = { fn, cluster };
      await ensureTopology(bus, busOptions, [{ scope, kinds: [Thing] }]);
      // Longer than a test: a message is redelivered only if it is handed back.
      await bus.jsm.consumers.update(timersStream(fn), consumers.relay(scope), { ack_wait: 600_000 * 1e6 });
      return sweptFunction(bus, scope, running);
    },
    atEnd: (end) => void running.push(end),
    async end() {
      while (running.length > 0) await running.pop()?.();
    },
    stop: () => local.stop(),
  };
}

function sweptFunction(bus: Bus, scope: QueueScope, running: (() => Promise<void>)[]): SweptFunction {
  const stream = timersStream(scope.fn);
  const schedule = async () =>
    (await bus.jsm.direct.getMessage(stream, { last_by_subj: sweeps.at(scope) })) ?? undefined;
  return {
    scope,
    schedule,
    start(options) {
      const process = startProcess(bus, scope, `replica-${running.length}`, options);
      running.push(process.stop);
      return process;
    },
    take() {
      const taken = new Map<string, number>();
      const stopping = new AbortController();
      const done = (async () => {
        const consumer = await bus.js.consumers.get(workStream(scope.fn), consumers.worker(scope));
        while (!stopping.signal.aborted) {
          // The client fails if it receives nothing for this long. One second is too short on a busy machine.
          const tickets = await consumer.fetch({ max_messages: 500, expires: 60_000 });
          if (stopping.signal.aborted) tickets.stop();
          stopping.signal.addEventListener("abort", () => tickets.stop(), { once: true });
          for await (const ticket of tickets) {
            const key = ticket.subject.split(".").at(-1) ?? "";
            taken.set(key, (taken.get(key) ?? 0) + 1);
            await ticket.ackAck();
          }
        }
      })();
      running.push(async () => {
        stopping.abort();
        await done;
      });
      return taken;
    },
    dueAt: async () => Date.parse((await schedule())?.header.get("Nats-Schedule").slice("@at ".length) ?? ""),
    inStream: async () => (await bus.jsm.streams.info(stream, { subjects_filter: ">" })).state.subjects ?? {},
    fire: () => publishUntilAnswered(bus, sweeps.due(scope), ""),
  };
}

function startProcess(
  bus: Bus,
  scope: QueueScope,
  replica: string,
  { everyMillis, relay, request, direct }: StartOptions,
): Process {
  const real = ticketQueue(bus, scope, { replica });
  const requested = new Map<string, number>();
  const due = new Set<number>();
  const swept: string[] = [];
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const queue: TicketQueue = {
    ...real,
    requestUnlessOwned(key, ...rest) {
      const text = keyText(key);
      requested.set(text, (requested.get(text) ?? 0) + 1);
      return (request ?? real.requestUnlessOwned)(key, ...rest);
    },
  };
  const [searching, stopping] = [new AbortController(), new AbortController()];
  const { signal } = searching;
  const jsm = direct === undefined ? bus.jsm : Object.create(bus.jsm, { direct: { value: direct } });
  const inner = startSweep({ bus: { ...bus, jsm }, queue, kind: Thing, everyMillis, signal, onError });
  const sweep: Sweep = {
    ...inner,
    async due(delivery) {
      due.add((delivery as Delivery).sequence);
      const end = await inner.due(delivery);
      swept.push(end);
      return end;
    },
  };
  const relaying = relay
    ? startRelay({
        bus,
        queue: real,
        sweep,
        slots: 4,
        deadline: { ackWaitMillis: 5000, signal: stopping.signal },
        onError,
      })
    : undefined;
  let stopped: Promise<void> | undefined;
  const stop = () =>
    (stopped ??= (async () => {
      searching.abort();
      await Promise.all([relaying?.stop(), sweep.ended]);
      stopping.abort();
    })());
  return { sweep, requested, due, swept, errors, stop };
}
