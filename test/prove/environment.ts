/** A bus, workers, and a publisher, for scenarios that need no real API server. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Publisher } from "../../bus/bridge/publisher.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { mergePermissions, type Role, workerRole } from "../../bus/permissions.ts";
import { type AddressedDeadLetter, deadLetters } from "../../bus/queue/deadletters.ts";
import { untilAnswered } from "../../bus/queue/publish.ts";
import { ticketQueue } from "../../bus/queue/queue.ts";
import { ensureTopology } from "../../bus/topology.ts";
import type { Child, LocalProcesses } from "../../deploy/local/index.ts";
import { startNatsServers } from "../harness/natsservers.ts";
import { now } from "../harness/now.ts";
import { publisherOf, stored } from "../harness/publish.ts";
import { compiledBefore } from "../harness/start/quick.ts";
import { type ObjectServer, serveObjects } from "./apiserver.ts";
import { untilQuiet } from "./quiet.ts";
import { dueSubject, Item, type ReplicaEnv, scope, subscription } from "./replica.ts";
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
  /** Resolves when every change is on the bus, no message is pending, and no worker has any in flight. */
  untilQuiet(): Promise<void>;
  /** All dead letters. */
  deadLetters(): Promise<readonly AddressedDeadLetter[]>;
  /** Replays every dead letter, waits until the bus is quiet again, and returns their number. */
  replayDeadLetters(): Promise<number>;
}

const program = fileURLToPath(new URL("./replica.ts", import.meta.url));

/** Sets the environment up for the duration of the trial. */
export async function openTrialEnvironment(
  trial: Trial,
  options: TrialEnvironmentOptions,
): Promise<TrialEnvironment> {
  const { signal, defer } = trial;
  const started = await startNatsServers(options.servers, signal, [workersRole()]);
  const { processes, servers, natsUrl } = started;
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
  const items = new Items(await publisherOf(bus, Item), apiServer);
  const workers = new Workers(
    processes,
    workerEnv(options, started.natsUrlFor(scope.fn), apiServer.url, journals),
    signal,
  );
  const letters = deadLetters(bus, scope);
  /** A server just started on a busy machine may take longer than a request waits. */
  const listDeadLetters = () => untilAnswered(() => letters.list(), signal);
  async function quiet(): Promise<void> {
    await items.published();
    await untilQuiet(bus, signal);
  }

  return {
    bus,
    servers,
    journals,
    changes: items.changes,
    get stranded() {
      return workers.stranded;
    },
    workers: (count) => workers.start(count),
    change: (key, millis, due) => items.change(key, millis, due),
    published: () => items.published(),
    untilQuiet: quiet,
    deadLetters: listDeadLetters,
    async replayDeadLetters() {
      const found = await listDeadLetters();
      const queue = ticketQueue(bus, scope, { replica: "prove" });
      for (const { key } of found) await letters.replay(queue, key);
      await quiet();
      return found.length;
    },
  };
}

/** The items that a scenario changes. */
class Items {
  readonly changes = new Map<string, Change[]>();
  readonly #publisher: Publisher;
  readonly #apiServer: ObjectServer;
  #version = 0;

  constructor(publisher: Publisher, apiServer: ObjectServer) {
    this.#publisher = publisher;
    this.#apiServer = apiServer;
  }

  async change(key: string, millis = 0, due?: number): Promise<void> {
    const version = ++this.#version;
    const before = this.changes.get(key);
    if (before) before.push({ version, at: now() });
    else this.changes.set(key, [{ version, at: now() }]);
    const item = stored(Item, key, version, { millis, ...(due !== undefined && { due }) });
    this.#apiServer.put(item);
    await this.#publisher.publish("modified", item, "watch");
  }

  published(): Promise<void> {
    return this.#publisher.settled();
  }
}

/** The environment variables that all workers share. */
const workerEnv = (
  { servers, ackWaitMillis, concurrency = 10 }: TrialEnvironmentOptions,
  natsUrl: string,
  apiUrl: string,
  journals: string,
): Omit<ReplicaEnv, "DENREI_REPLICA"> => ({
  NATS_URL: natsUrl,
  PROVE_API_URL: apiUrl,
  PROVE_JOURNALS: journals,
  PROVE_ACK_WAIT_MILLIS: String(ackWaitMillis),
  PROVE_STREAM_REPLICAS: String(servers),
  PROVE_CONCURRENCY: String(concurrency),
});

/** The worker processes. */
class Workers {
  readonly #processes: LocalProcesses;
  readonly #env: Omit<ReplicaEnv, "DENREI_REPLICA">;
  readonly #signal: AbortSignal;
  #stranded = 0;

  constructor(processes: LocalProcesses, env: Omit<ReplicaEnv, "DENREI_REPLICA">, signal: AbortSignal) {
    this.#processes = processes;
    this.#env = env;
    this.#signal = signal;
  }

  /** The number of stranded messages that they have logged. */
  get stranded(): number {
    return this.#stranded;
  }

  start(count: number): Promise<Child[]> {
    return Promise.all(Array.from({ length: count }, (_, at) => this.#spawn(`worker-${at + 1}`)));
  }

  #spawn(name: string): Promise<Child> {
    let isReady = false;
    const env: ReplicaEnv = { ...this.#env, DENREI_REPLICA: name };
    return this.#processes.spawn(
      {
        name,
        command: process.execPath,
        args: [program],
        env: { ...env, ...compiledBefore, NODE_NO_WARNINGS: "1", VITEST: undefined },
        onLine: (line) => {
          isReady ||= line === "worker ready";
          if (line.includes("stranded message found")) this.#stranded++;
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
      this.#signal,
    );
  }
}

/** Workers have the permissions of their function, and of one bucket for the effects of due items. */
function workersRole(): Role {
  const { permissions, ...role } = workerRole(scope.fn, [subscription]);
  return {
    ...role,
    permissions: mergePermissions(permissions, { publish: [dueSubject("*")], subscribe: [] }),
  };
}
