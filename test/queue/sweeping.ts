/** Objects on a bus, and functions that sweep them. */
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

/** The kind that is swept. */
export const Thing = externalKind<KubeObject<object>>({
  group: "test.denrei.dev",
  version: "v1",
  kind: "Thing",
  plural: "things",
});
const Other = externalKind<KubeObject<object>>({ ...Thing, kind: "Other", plural: "others" });

/** Where the objects are. */
export const cluster = "test";
/** Names of the objects, and their keys in order. */
export const names = Array.from({ length: 150 }, (_, at) => `thing-${at}`);
export const keys = names.map((name) => `default/${name}`).sort();

const busOptions = { replicas: 1, ackWaitMillis: 3000 };

/** One process of a function: its sweep and, if wanted, its relay. */
export interface Process {
  readonly sweep: Sweep;
  /** What its sweeps have requested, by key. */
  readonly requested: ReadonlyMap<string, number>;
  /** Positions of the messages that said that it is time. */
  readonly due: ReadonlySet<number>;
  /** How its sweeps have ended. */
  readonly swept: readonly string[];
  readonly errors: readonly unknown[];
  /** As a worker does: first no more sweeps, and then no more messages. */
  stop(): Promise<void>;
}

/** How a process differs. */
export interface StartOptions {
  readonly everyMillis: number;
  /** Without it, nobody hears what falls due. */
  readonly relay?: boolean;
  /** Instead of the queue's. */
  readonly request?: TicketQueue["requestUnlessOwned"];
  /** Instead of the bus's own: what is read one by one. */
  readonly direct?: Partial<Bus["jsm"]["direct"]>;
}

/** A function with streams of its own. */
export interface SweptFunction {
  readonly scope: QueueScope;
  /** Starts a process. Nobody takes its tickets, unless `take` does. */
  start(options: StartOptions): Process;
  /** Takes tickets as a worker does, until the test is over; what was taken is counted by key. */
  take(): ReadonlyMap<string, number>;
  /** Its schedule as the bus has it. */
  schedule(): Promise<StoredMsg | undefined>;
  /** When that falls due. */
  dueAt(): Promise<number>;
  /** What is in the stream of its schedules, by subject. */
  inStream(): Promise<Record<string, number>>;
  /** A sweep that is due now, as the bus would deliver it. */
  fire(): Promise<number>;
}

/** A bus with 150 objects of a kind, and one of another. */
export interface Sweeping {
  readonly bus: Bus;
  /** Makes the streams of a function. */
  of(fn: string): Promise<SweptFunction>;
  /** Has something ended when the test is over. */
  atEnd(end: () => Promise<void>): void;
  /** Ends what a test has started, the last first. */
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
      // What is not handed back comes back to nobody within a test.
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
          // The client fails when it hears nothing for this long. On a busy machine one second is too short.
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
