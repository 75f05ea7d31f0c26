/** A kit for tests of the bridge: its replicas with their figures, and what the bus says beside what the API says. */
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
import { type History, openHistory } from "./history.ts";
import {
  type LocalKit,
  type OwnKit,
  type Replica,
  type ReplicaOptions,
  startLocalKit,
  startOwnKit,
} from "./kit.ts";
import { optIn } from "./namespaces.ts";
import { random } from "./random.ts";

/** Path of the function whose kinds the bridges watch: Note, Secret and ConfigMap. */
export const notesPath = fileURLToPath(new URL("../fixtures/functions/notes.ts", import.meta.url));

const cluster = "default";

/** One life of a bridge. */
export interface BridgeReplica extends Replica {
  /** Sum of a metric over the samples that have the labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** What it counted of a kind. */
  counts(kind: Kind): Promise<{ lists: number; added: number; modified: number; deleted: number }>;
  /** Log records with this message and, if given, of this kind. */
  logged(msg: string, kind?: Kind): Record<string, unknown>[];
}

/** Notes, bridges and the bus. */
export interface Bridged {
  readonly kit: LocalKit;
  readonly bus: Bus;
  /** The bucket of leases and positions. */
  readonly kv: KV;
  readonly history: History;
  /** Starts a bridge of its own name; without `args` for Note, Secret and ConfigMap. */
  bridge(name: string, options?: ReplicaOptions): Promise<BridgeReplica>;
  create(name: string, metadata?: Partial<ObjectMeta>, text?: string): Promise<Stored<Note>>;
  change(name: string, patch?: object): Promise<Stored<Note>>;
  remove(name: string): Promise<void>;
  /** The bus has exactly the objects that the API server has, as they are. */
  untilAgreed(kind: Kind): Promise<void>;
  /** What the bus remembers about the watch of a kind, once it satisfies the condition. */
  position(kind: Kind, condition?: (position: Position) => boolean): Promise<Position>;
  /** Bus and API server agree, the bridge has saved a later position, and the history has all up to it. Resolves with the position. */
  untilSettled(kind: Kind): Promise<string>;
  stop(): Promise<void>;
}

const deadlineMillis = 60_000;

/** Notes and bridges with a control plane of their own, which a test can stop. */
export interface OwnBridged extends Bridged {
  readonly kit: OwnKit;
}

/** Starts a bus with the CRD of Note, and of more kinds if they are given; the namespace `default` is opted in. */
export const startBridged = async (more: readonly Kind[] = []): Promise<Bridged> =>
  bridgedOn(await startLocalKit({ crds: [Note, ...more].map(crdOf) }));

/** The same with a control plane of its own. */
export async function startOwnBridged(more: readonly Kind[] = []): Promise<OwnBridged> {
  const kit = await startOwnKit({ crds: [Note, ...more].map(crdOf) });
  return { ...(await bridgedOn(kit)), kit };
}

async function bridgedOn(kit: LocalKit): Promise<Bridged> {
  await optIn(kit.client, "default");
  const bus = await connectBus({ url: kit.platform.natsUrl, name: "test" });
  await ensureTopology(bus, { replicas: 1, ackWaitMillis: 10_000 });
  const kv = await bus.kvm.open(bridgeBucket);
  const history = await openHistory(bus);
  const store = objectStore(bus, cluster);
  const manager = { fieldManager: "test" };
  const at = (name: string) => ({ namespace: "default", name });
  let texts = 0;

  const untilAgreed = (kind: Kind) => untilBusAgrees(kit.client, store, kind, deadlineMillis);

  async function position(kind: Kind, condition: (position: Position) => boolean = () => true) {
    let found: string | undefined;
    for (const until = performance.now() + deadlineMillis; performance.now() < until; await sleep(50)) {
      const entry = await kv.get(positionKey(cluster, kind, watchedIn(kind)));
      found = entry?.string();
      const position = parsePosition(found ?? "");
      if (position && condition(position)) return position;
    }
    throw new Error(
      `no position with ${condition} within ${deadlineMillis} ms; it is ${JSON.stringify(found)}`,
    );
  }

  return {
    kit,
    bus,
    kv,
    history,
    position,
    untilAgreed,
    async bridge(name, options = {}) {
      return bridgeReplica(await kit.bridge(name, { ...options, args: options.args ?? [notesPath] }));
    },
    create: (name, metadata = {}, text = `text ${++texts}`) =>
      kit.client.create(
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
      kit.client.mergePatch(Note, at(name), patch, manager),
    remove: (name) => kit.client.delete(Note, at(name), {}),
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
      // A move is published at two addresses. They agree after the first message; the second one comes before the position.
      const sequence = (await last())?.seq ?? 0;
      await history.until(() => (history.all.at(-1)?.sequence ?? 0) >= sequence);
      return saved.resourceVersion;
    },
    async stop() {
      await bus.nc.close();
      await kit.stop();
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

/** Writes that go on until `stop`. */
export interface Churn {
  /** Resolves when so many more writes were answered with yes. */
  more(writes: number): Promise<void>;
  /** Resolves when the last write was answered. It is of an object that stays: a bus that has it has all earlier writes. */
  stop(): Promise<void>;
}

/**
 * Creates, changes and deletes notes at random, some of them much more often than others, without a pause; while the
 * API server does not answer it tries again.
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
    // API server and bus agree about an object that is created and deleted last before its messages are published.
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
