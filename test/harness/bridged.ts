/** An environment for bridge tests: bridge replicas with their metrics, and comparisons of the bus with the API server. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { KV } from "@nats-io/kv";
import { type Position, parsePosition, positionKey } from "../../bus/bridge/position.ts";
import { attribute } from "../../bus/events/binding.ts";
import { versionOf } from "../../bus/events/kubernetes.ts";
import { crdOf } from "../../bus/kube/crd.ts";
import { isConflict, isNotFound } from "../../bus/kube/errors.ts";
import { type Kind, kindText } from "../../bus/kube/kind.ts";
import { compareVersions, type ObjectMeta, type Stored } from "../../bus/kube/object.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { objectStore } from "../../bus/objects/store.ts";
import { bridgeBucket, kindSubjects, streams } from "../../bus/subjects.ts";
import { ensureTopology } from "../../bus/topology.ts";
import { Note } from "../fixtures/functions/notes.ts";
import { untilBusAgrees, watchedIn } from "./agreement.ts";
import {
  type LocalTestEnvironment,
  type OwnTestEnvironment,
  type Replica,
  type ReplicaOptions,
  startLocalTestEnvironment,
  startOwnTestEnvironment,
} from "./environment.ts";
import { type History, openHistory } from "./history.ts";
import { optIn } from "./namespaces.ts";
import { random } from "./random.ts";

/** Path of the function whose kinds the bridges watch: Note, Secret, and ConfigMap. */
export const notesPath = fileURLToPath(new URL("../fixtures/functions/notes.ts", import.meta.url));

const cluster = "default";

/** A bridge replica. */
export interface BridgeReplica extends Replica {
  /** Sum of a metric over the samples with these labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** The bridge's counters for a kind. */
  counts(kind: Kind): Promise<{ lists: number; added: number; modified: number; deleted: number }>;
  /** Log records with this message and, if given, for this kind. */
  logged(msg: string, kind?: Kind): Record<string, unknown>[];
}

/** An environment with the CRD of Note, its bus, and helpers for bridges. */
export interface Bridged {
  readonly environment: LocalTestEnvironment;
  readonly bus: Bus;
  /** The bucket of leases and positions. */
  readonly kv: KV;
  readonly history: History;
  /** Starts a bridge with its own name; without `args` it serves Note, Secret, and ConfigMap. */
  bridge(name: string, options?: ReplicaOptions): Promise<BridgeReplica>;
  create(name: string, metadata?: Partial<ObjectMeta>, text?: string): Promise<Stored<Note>>;
  change(name: string, patch?: object): Promise<Stored<Note>>;
  remove(name: string): Promise<void>;
  /** Resolves when the bus has exactly the objects of the API server. */
  untilAgreed(kind: Kind): Promise<void>;
  /** The saved watch position of a kind, once it satisfies the condition. */
  position(kind: Kind, condition?: (position: Position) => boolean): Promise<Position>;
  /**
   * Resolves with the position when bus and API server agree, the bridge has saved a later position, and the history contains everything up
   * to it.
   */
  untilSettled(kind: Kind): Promise<string>;
  stop(): Promise<void>;
}

const deadlineMillis = 60_000;

/** The same with its own control plane, which a test can stop. */
export interface OwnBridged extends Bridged {
  readonly environment: OwnTestEnvironment;
}

/** Starts a bus with the CRD of Note and of `more` kinds; the namespace `default` is opted in. */
export const startBridged = async (more: readonly Kind[] = []): Promise<Bridged> =>
  bridgedOn(await startLocalTestEnvironment({ crds: [Note, ...more].map((kind) => crdOf(kind)) }));

/** Like {@link startBridged}, with its own control plane. */
export async function startOwnBridged(more: readonly Kind[] = []): Promise<OwnBridged> {
  const environment = await startOwnTestEnvironment({ crds: [Note, ...more].map((kind) => crdOf(kind)) });
  return { ...(await bridgedOn(environment)), environment };
}

async function bridgedOn(environment: LocalTestEnvironment): Promise<Bridged> {
  await optIn(environment.client, "default");
  const bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  await ensureTopology(bus, { replicas: 1, ackWaitMillis: 10_000 });
  const kv = await bus.kvm.open(bridgeBucket);
  const history = await openHistory(bus);
  const store = objectStore(bus, cluster);
  const manager = { fieldManager: "test" };
  const at = (name: string) => ({ namespace: "default", name });
  let texts = 0;

  const untilAgreed = (kind: Kind) => untilBusAgrees(environment.client, store, kind, deadlineMillis);

  async function position(kind: Kind, condition: (position: Position) => boolean = () => true) {
    let found: string | undefined;
    for (const until = performance.now() + deadlineMillis; performance.now() < until; await sleep(50)) {
      const entry = await kv.get(positionKey(cluster, kind, watchedIn(kind)));
      found = entry?.string();
      const position = parsePosition(found ?? "");
      if (position && condition(position)) return position;
    }
    throw new Error(
      `no position satisfied ${condition} within ${deadlineMillis} ms; the last one: ${JSON.stringify(found)}`,
    );
  }

  return {
    environment,
    bus,
    kv,
    history,
    position,
    untilAgreed,
    async bridge(name, options = {}) {
      return bridgeReplica(await environment.bridge(name, { ...options, args: options.args ?? [notesPath] }));
    },
    create: (name, metadata = {}, text = `text ${++texts}`) =>
      environment.client.create(
        Note,
        {
          apiVersion: "test.denrei.dev/v1",
          kind: "Note",
          metadata: { ...at(name), ...metadata },
          spec: { text },
        },
        manager,
      ),
    change: (name, patch = { spec: { text: `text ${++texts}` } }) =>
      environment.client.mergePatch(Note, at(name), patch, manager),
    remove: (name) => environment.client.delete(Note, at(name), {}),
    async untilSettled(kind) {
      await untilAgreed(kind);
      const last = () =>
        bus.jsm.streams.getMessage(streams.objects, {
          last_by_subj: kindSubjects(cluster, kind, watchedIn(kind)),
        });
      const { resourceVersion = "0" } = versionOf(attribute((await last())?.header, "id")) ?? {};
      const saved = await position(
        kind,
        (saved) => saved.state === "watching" && compareVersions(saved.resourceVersion, resourceVersion) >= 0,
      );
      // A move is published on two subjects. Bus and API server agree after the first message, but the position follows the second.
      const sequence = (await last())?.seq ?? 0;
      await history.until(() => (history.all.at(-1)?.sequence ?? 0) >= sequence);
      return saved.resourceVersion;
    },
    async stop() {
      await bus.nc.close();
      await environment.stop();
    },
  };
}

function bridgeReplica(replica: Replica): BridgeReplica {
  const logged = (msg: string, kind?: Kind) =>
    replica.log
      .records()
      .filter((record) => record.msg === msg && (kind === undefined || record.kind === kindText(kind)));

  async function metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const answer = await fetch(`${logged("starting")[0]?.probes}/metrics`);
    return (await answer.text())
      .split("\n")
      .filter((line) => line.startsWith(`${name}{`))
      .filter((line) =>
        Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)),
      )
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  }

  return Object.assign(Object.create(replica) as Replica, {
    metric,
    logged,
    async counts(kind: Kind) {
      const labels = { kind: kindText(kind) };
      const events = (change: string) => metric("denrei_bridge_events_total", { ...labels, change });
      const [lists, added, modified, deleted] = await Promise.all([
        metric("denrei_bridge_lists_total", labels),
        ...["added", "modified", "deleted"].map(events),
      ]);
      return { lists, added, modified, deleted };
    },
  }) as BridgeReplica;
}

/** A background writer that runs until `stop`. */
export interface Churn {
  /** Resolves after this many more successful writes. */
  more(writes: number): Promise<void>;
  /** Resolves after the last write, which is to an object that stays: a bus that has it has all earlier writes. */
  stop(): Promise<void>;
}

/**
 * Creates, changes, and deletes notes at random without a pause, some far more often than others. Retries while the API server does
 * not answer.
 */
export function startChurn(
  { create, change, remove }: Bridged,
  names: readonly string[],
  seed = Number(process.env.DENREI_SEED ?? 1),
): Churn {
  const next = random(seed);
  const stopping = new AbortController();
  let written = 0;
  let wrote: (() => void) | undefined;
  async function write(mayRemove: boolean): Promise<boolean> {
    const name = names[Math.floor(next() ** 2 * names.length)] ?? "";
    try {
      if (next() < 0.1 && mayRemove) await remove(name);
      else await change(name).catch((error) => (isNotFound(error) ? create(name) : Promise.reject(error)));
      written++;
      wrote?.();
      return true;
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) await sleep(20);
      return false;
    }
  }
  const done = (async () => {
    while (!stopping.signal.aborted) await write(true);
    // Not create and delete: bus and API server would agree about that object before its messages are published.
    while (!(await write(false)));
  })();
  return {
    async more(writes) {
      const enough = written + writes;
      const late = AbortSignal.timeout(deadlineMillis);
      while (written < enough) {
        late.throwIfAborted();
        await new Promise<void>((resolve) => {
          wrote = resolve;
        });
      }
    },
    async stop() {
      stopping.abort();
      await done;
    },
  };
}
