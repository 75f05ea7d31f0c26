/** A bus, workers, and a publisher, for scenarios that need no real API server. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { mergePermissions, type Role, workerRole } from "../../bus/permissions.ts";
import { type AddressedDeadLetter, deadLetters } from "../../bus/queue/deadletters.ts";
import { untilAnswered } from "../../bus/queue/publish.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { consumers, type QueueScope, streams, timersStream, workStream } from "../../bus/subjects.ts";
import { ensureTopology, type FunctionSubscription } from "../../bus/topology.ts";
import { type Child, startLocalNats } from "../../deploy/local/index.ts";
import { publisherOf, stored } from "../harness/publish.ts";
import { compiledBefore } from "../harness/start/quick.ts";
import { serveObjects } from "./apiserver.ts";
import { startNatsCluster } from "./cluster.ts";
import { now } from "./journal.ts";
import { dueSubject, Item, itemsFunction, type ReplicaEnv } from "./replica.ts";
import type { Trial } from "./scenario.ts";

/** What to set up. */
export interface TrialEnvironmentOptions {
  /** Servers of the bus, and copies of every stream. */
  readonly servers: 1 | 3;
  readonly ackWaitMillis: number;
  /** Concurrent reconciles in one worker. */
  readonly concurrency?: number;
}

/** A published change. */
export interface Change {
  readonly version: number;
  /** When it was passed to the publisher. Milliseconds of the machine's clock. */
  readonly at: number;
}

/** The environment of a scenario. */
export interface TrialEnvironment {
  readonly bus: Bus;
  readonly natsUrl: string;
  readonly servers: readonly Child[];
  /** The folder of the workers' journals. */
  readonly journals: string;
  /** Every change, by key, in order. */
  readonly changes: ReadonlyMap<string, readonly Change[]>;
  /** The number of stranded messages that workers have found. */
  readonly stranded: number;
  /** Starts this many workers, named `worker-1` and so on. */
  workers(count: number): Promise<Child[]>;
  /**
   * Publishes a change of an item as the bridge would. Its reconcile takes `millis`, and asks to run again at `due` (Unix
   * milliseconds). Resolves when the next change may follow.
   */
  change(key: string, millis?: number, due?: number): Promise<void>;
  /** Resolves when every change is on the bus. */
  published(): Promise<void>;
  /** Resolves when no message is pending and no worker has any in flight. */
  quiet(): Promise<void>;
  /** All dead letters. */
  letters(): Promise<readonly AddressedDeadLetter[]>;
  /** Replays every dead letter, waits until the bus is quiet again, and returns their number. */
  replayLetters(): Promise<number>;
}

export const scope: QueueScope = { fn: itemsFunction, cluster: "test" };
const program = fileURLToPath(new URL("./replica.ts", import.meta.url));
export const subscription: FunctionSubscription = { scope, kinds: [Item] };
const lookMillis = 100;
/** Polls in a row that must be quiet: work moving from one process to the next can be missed by a single poll. */
const quietLooks = 3;
const quietMillis = 120_000;

/** Sets the environment up for the duration of the trial. */
export async function openTrialEnvironment(
  trial: Trial,
  options: TrialEnvironmentOptions,
): Promise<TrialEnvironment> {
  const { signal, defer } = trial;
  const started = await (options.servers === 1 ? single() : several(signal));
  const { processes, servers, natsUrl, workerUrl } = started;
  defer(() => processes.stop());
  const journals = join(processes.directory, "journals");
  await mkdir(journals);
  const bus = await connectBus({ url: natsUrl, name: "prove", timeoutMillis: 30_000 });
  defer(() => bus.nc.close());
  const apiServer = await serveObjects(Item);
  defer(() => apiServer.close());
  await ensureTopology(bus, { replicas: options.servers, ackWaitMillis: options.ackWaitMillis }, [
    subscription,
  ]);
  const publisher = await publisherOf(bus, Item);
  const changes = new Map<string, Change[]>();
  let version = 0;
  let stranded = 0;

  /** The work in progress by kind. A bus that is down because of a fault is not quiet. */
  async function underWay(): Promise<string[]> {
    const [router, work, timers] = await Promise.all([
      bus.jsm.consumers.info(streams.objects, consumers.router(subscription)),
      bus.jsm.streams.info(workStream(scope.fn)),
      bus.jsm.streams.info(timersStream(scope.fn)),
    ]);
    const counts = {
      "events to route": router.num_pending + router.num_ack_pending,
      tickets: work.state.messages,
      "marks and timers": timers.state.messages,
    };
    return Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([what, count]) => `${count} ${what}`);
  }

  async function quiet(): Promise<void> {
    const until = performance.now() + quietMillis;
    let last = "";
    for (let quiet = 0; quiet < quietLooks; ) {
      const found = await underWay().catch((error: unknown) => [String(error)]);
      quiet = found.length === 0 ? quiet + 1 : 0;
      last = found.join("; ");
      if (performance.now() > until) {
        const { delivered, ack_floor, num_pending, num_ack_pending } = await bus.jsm.consumers.info(
          workStream(scope.fn),
          consumers.worker(scope),
        );
        const left = [
          `consumer of tickets: ${JSON.stringify({ delivered, ack_floor, num_pending, num_ack_pending })}`,
          ...(await messagesIn(bus, workStream(scope.fn))),
          ...(await messagesIn(bus, timersStream(scope.fn))),
        ];
        throw new Error(
          [`expected the bus to become quiet within ${quietMillis} ms, found ${last}:`, ...left].join("\n  "),
        );
      }
      await sleep(lookMillis, undefined, { signal });
    }
  }

  function worker(name: string): Promise<Child> {
    let isReady = false;
    const env: ReplicaEnv = {
      NATS_URL: workerUrl,
      PROVE_API_URL: apiServer.url,
      DENREI_REPLICA: name,
      PROVE_JOURNALS: journals,
      PROVE_ACK_WAIT_MILLIS: String(options.ackWaitMillis),
      PROVE_STREAM_REPLICAS: String(options.servers),
      PROVE_CONCURRENCY: String(options.concurrency ?? 10),
    };
    return processes.spawn(
      {
        name,
        command: process.execPath,
        args: [program],
        env: { ...env, ...compiledBefore, NODE_NO_WARNINGS: "1", VITEST: undefined },
        onLine(line) {
          isReady ||= line === "worker ready";
          if (line.includes("the bus did not deliver this any more")) stranded++;
        },
        async ready() {
          if (!isReady) throw new Error("it is not ready");
          // The next process has to log it again.
          isReady = false;
        },
        readyMillis: 60_000,
        graceMillis: 15_000,
        closingSignal: "SIGKILL",
      },
      signal,
    );
  }

  const letters = deadLetters(bus, scope);
  /** A server just started on a busy machine may take longer than a request waits. */
  const listLetters = () => untilAnswered(() => letters.list(), signal);

  return {
    bus,
    natsUrl,
    servers,
    journals,
    changes,
    get stranded() {
      return stranded;
    },
    workers: (count) => Promise.all(Array.from({ length: count }, (_, at) => worker(`worker-${at + 1}`))),
    async change(key, millis = 0, due) {
      version++;
      const before = changes.get(key);
      if (before) before.push({ version, at: now() });
      else changes.set(key, [{ version, at: now() }]);
      const item = stored(Item, key, version, { millis, ...(due !== undefined && { due }) });
      apiServer.put(item);
      await publisher.publish("modified", item, "watch");
    },
    published: () => publisher.settled(),
    quiet,
    letters: listLetters,
    async replayLetters() {
      const found = await listLetters();
      const queue = ticketQueue(bus, scope, { replica: "prove" });
      for (const { key } of found) await letters.replay(queue, key);
      await quiet();
      return found.length;
    },
  };
}

/** The first messages of a stream, to diagnose what is stuck. */
async function messagesIn(bus: Bus, stream: string): Promise<string[]> {
  const { state } = await bus.jsm.streams.info(stream);
  const lines: string[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq && lines.length < 10; seq++) {
    const message = await bus.jsm.streams.getMessage(stream, { seq }).catch(() => null);
    if (message)
      lines.push(`${stream} ${seq} ${message.subject} ${String(message.header)} ${message.string()}`);
  }
  return lines;
}

/** Workers have the permissions of their function, and of one bucket for the effects of due items. */
function workersRole(): Role {
  const { permissions, ...role } = workerRole(scope.fn, [subscription]);
  return {
    ...role,
    permissions: mergePermissions(permissions, { publish: [dueSubject("*")], subscribe: [] }),
  };
}

async function single() {
  const local = await startLocalNats({ roles: [workersRole()] });
  const workerUrl = local.natsUrlFor(scope.fn);
  return { processes: local, servers: [local.nats], natsUrl: local.natsUrl, workerUrl };
}

async function several(signal: AbortSignal) {
  const cluster = await startNatsCluster(signal, [workersRole()]);
  return { ...cluster, workerUrl: cluster.natsUrlFor(scope.fn) };
}
