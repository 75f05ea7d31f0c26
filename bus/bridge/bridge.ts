/** The bridge: watches kinds of one cluster and keeps the object store. Two or more replicas share the kinds. */
import { setTimeout as sleep } from "node:timers/promises";
import type { KV, KvEntry } from "@nats-io/kv";
import type { Logger } from "pino";
import { Counter, Gauge, type Registry } from "prom-client";
import { z } from "zod";
import type { Bus } from "../connect.ts";
import type { KubeClient } from "../kube/client.ts";
import { type Kind, kindText } from "../kube/kind.ts";
import { isVersion } from "../kube/object.ts";
import { isNotStored, notStored } from "../stuck.ts";
import { bridgeBucket, token } from "../subjects.ts";
import { type BusOptions, ensureTopology, type Interest } from "../topology.ts";
import { claim, holderIn, holdLease, type LeaseTimes } from "./lease.ts";
import { openPublisher } from "./publisher.ts";
import { type WatcherState, watchKind } from "./watcher.ts";

/** What a bridge needs. */
export interface BridgeOptions {
  readonly bus: Bus;
  readonly busOptions: BusOptions;
  readonly client: KubeClient;
  readonly cluster: string;
  /** Unique among the replicas. */
  readonly replica: string;
  readonly kinds: readonly Kind[];
  /** Whose streams and consumers the bridge makes: workers may not, where the bus has users. */
  readonly interests?: readonly Interest[];
  /** Only these namespaces; none means all of them. */
  readonly namespaces?: readonly string[];
  readonly log: Logger;
  readonly registry: Registry;
  readonly watchSeconds?: number;
  readonly leaseTimes?: LeaseTimes;
}

/** A running bridge. */
export interface Bridge {
  /** Per kind: standing by, or what its watcher does. */
  states(): ReadonlyMap<string, WatcherState["name"] | "standby">;
  /** Which kind could not be watched for some seconds, and why; undefined when all is well. */
  notReady(): string | undefined;
  stop(): Promise<void>;
}

/** What the bus remembers about a kind's watch. */
export const positionSchema = z.object({
  resourceVersion: z.string(),
  /** RFC 3339. */
  time: z.string(),
  holder: z.string(),
  state: z.enum(["listing", "resuming", "watching", "absent"]),
  /** Objects that exist. */
  objects: z.int().default(0),
});
export type Position = z.infer<typeof positionSchema>;

/** The position in a record of the bucket; undefined where there is none, or none that can be read. */
export function parsePosition(text: string): Position | undefined {
  try {
    return positionSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const saveEveryMillis = 1000;
/** A broken watch is mostly opened again at once; one that stays broken is somebody's business. Milliseconds. */
const troubledMillis = 5000;

const slot = (cluster: string, kind: Kind, namespace: string | undefined): string =>
  `${token(cluster)}.${token(kind.group)}.${token(kind.kind)}${namespace === undefined ? "" : `.${token(namespace)}`}`;

/** Key of a kind's position in the bridge's bucket. */
export const positionKey = (cluster: string, kind: Kind, namespace?: string): string =>
  `position.${slot(cluster, kind, namespace)}`;

/** Matches every position in a cluster. */
export const positionKeys = (cluster: string): string => `position.${token(cluster)}.>`;

/** Key of a kind's lease in the same bucket: {@link holderIn} tells from its value which replica leads. */
export const leaseKey = (cluster: string, kind: Kind, namespace?: string): string =>
  `lease.${slot(cluster, kind, namespace)}`;

/** Starts a bridge; resolves when it stands by or leads for every kind. */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { bus, cluster, replica, kinds, registry, log } = options;
  await ensureTopology(bus, options.busOptions, options.interests);
  const kv = await bus.kvm.open(bridgeBucket);
  const metrics = bridgeMetrics(registry);
  const stopping = new AbortController();
  const states = new Map<string, WatcherState["name"] | "standby">();
  const troubles = new Map<string, { readonly since: number; readonly error: Error }>();

  const scopes = kinds.flatMap((kind) => {
    const namespaces =
      kind.scope === "Namespaced" && options.namespaces?.length ? options.namespaces : [undefined];
    return namespaces.map((namespace) => ({ kind, namespace }));
  });
  const running = scopes.map(({ kind, namespace }) => {
    const name = namespace === undefined ? kindText(kind) : `${kindText(kind)} in ${namespace}`;
    const labels = { kind: kindText(kind) };
    const setState = (state: WatcherState["name"] | "standby") => states.set(name, state);
    const setTrouble = (error: Error | undefined): void => {
      if (error === undefined) troubles.delete(name);
      else troubles.set(name, { since: troubles.get(name)?.since ?? performance.now(), error });
    };
    setState("standby");
    metrics.leading.inc(labels, 0);
    return holdLease({
      kv,
      key: leaseKey(cluster, kind, namespace),
      holder: replica,
      ...(options.leaseTimes && { times: options.leaseTimes }),
      signal: stopping.signal,
      onError(error) {
        const { message } = error as Error;
        const level = troubles.get(name)?.error.message === message ? "debug" : "warn";
        setTrouble(error as Error);
        log[level]({ err: error, kind: name }, "bridge of this kind broken, trying again");
      },
      onStandby: () => setTrouble(undefined),
      async lead(held, assertHeld) {
        metrics.leading.inc(labels);
        try {
          await bridgeKind({
            ...options,
            kind,
            namespace,
            kv,
            held,
            assertHeld,
            metrics,
            setState,
            setTrouble,
            log: log.child({ kind: name }),
          });
        } finally {
          metrics.leading.dec(labels);
          setState("standby");
          const reason = held.reason instanceof Error ? held.reason.message : "broken";
          log.info({ kind: name, reason }, "standing by");
        }
      },
    });
  });
  log.info({ kinds: [...states.keys()], cluster, replica }, "bridge ready");
  return {
    states: () => states,
    notReady() {
      for (const [name, { since, error }] of troubles) {
        if (performance.now() - since <= troubledMillis) continue;
        // The lease is kept on the bus: where nothing is stored nobody can hold it.
        return isNotStored(error) ? notStored(error) : `${name} is not watched: ${error.message}`;
      }
      return undefined;
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

type KindOptions = BridgeOptions & {
  kind: Kind;
  namespace: string | undefined;
  kv: KV;
  held: AbortSignal;
  assertHeld: () => void;
  metrics: ReturnType<typeof bridgeMetrics>;
  setState: (state: WatcherState["name"]) => void;
  setTrouble: (error: Error | undefined) => void;
};

/** Bridges one kind while the lease is held. */
async function bridgeKind(options: KindOptions): Promise<void> {
  const { bus, client, cluster, kind, namespace, kv, held, metrics, log, replica } = options;
  const labels = { kind: kindText(kind) };
  const key = positionKey(cluster, kind, namespace);
  const saved = await kv.get(key);
  const broken = new AbortController();
  const publisher = await openPublisher({
    bus,
    cluster,
    kind,
    namespace,
    position: servedPosition(saved),
    signal: held,
    assertHeld: options.assertHeld,
    onPublished: (change) => metrics.events.inc({ ...labels, change }),
    onFailed: (error) => broken.abort(error),
    onUnreadable: (subject) =>
      log.warn({ subject }, "not an event of the bridge: listing, to set right what it says"),
    onOversized(object) {
      metrics.oversized.inc(labels);
      log.error(
        object,
        "object left out: it does not fit into a message. Raise max_payload of the NATS servers, then change the object",
      );
    },
    observe: ({ subject, tries, error }) =>
      log[tries === 1 ? "warn" : "debug"](
        { subject, tries, err: error },
        "publish not answered, trying again",
      ),
  });
  log.info({ resourceVersion: publisher.position ?? "none", objects: publisher.count }, "leading");
  let state: WatcherState["name"] = "listing";
  const ended = new AbortController();
  const saving = keepSaved({
    kv,
    key,
    lease: leaseKey(cluster, kind, namespace),
    revision: saved?.revision ?? 0,
    ended: ended.signal,
    onError: (error) => log.warn({ err: error }, "position not saved, trying again"),
    now: () => ({
      resourceVersion: publisher.position ?? "",
      holder: replica,
      state,
      objects: publisher.count,
    }),
  });
  try {
    await watchKind({
      client,
      kind,
      namespace,
      publisher,
      watchSeconds: options.watchSeconds ?? 60,
      signal: AbortSignal.any([held, broken.signal]),
      log,
      onTrouble: options.setTrouble,
      onState(next) {
        if (next.name === "listing") metrics.lists.inc(labels);
        if (next.name === "watching") metrics.watches.inc(labels);
        state = next.name;
        options.setState(state);
      },
    });
    // A lease that was lost is no fault.
    if (!held.aborted) broken.signal.throwIfAborted();
  } finally {
    ended.abort();
    await saving;
  }
}

const positionOf = (entry: KvEntry | null): Position | undefined =>
  entry?.operation === "PUT" ? parsePosition(entry.string()) : undefined;

/** Where to resume. Whoever was listing had no position that the API server serves. */
function servedPosition(entry: KvEntry | null): string | undefined {
  const { state, resourceVersion } = positionOf(entry) ?? {};
  return (state === "watching" || state === "resuming") && isVersion(resourceVersion)
    ? resourceVersion
    : undefined;
}

/**
 * Saves the position once a second when it has moved, and a last time at the end. A bridge that was paused must not
 * take back what the one that leads now has saved.
 */
async function keepSaved(options: {
  readonly kv: KV;
  readonly key: string;
  /** Key of the lease: when two have saved, its holder is right. */
  readonly lease: string;
  /** Of the record, when the lease was taken; 0 if there was none. */
  readonly revision: number;
  readonly ended: AbortSignal;
  readonly onError: (error: unknown) => void;
  readonly now: () => Omit<Position, "time">;
}): Promise<void> {
  const { kv, key, ended } = options;
  let { revision } = options;
  let saved = "";
  const save = async () => {
    const now = options.now();
    if (JSON.stringify(now) === saved) return;
    const text = JSON.stringify({ ...now, time: new Date().toISOString() });
    const next = await claim(() => kv.put(key, text, { previousSeq: revision }));
    if (next !== undefined) {
      revision = next;
      saved = JSON.stringify(now);
      return;
    }
    const [found, lease] = await Promise.all([kv.get(key), kv.get(options.lease)]);
    // Tried again in a second, if it is still ours to say.
    if (lease && holderIn(lease.string()) === now.holder) revision = found?.revision ?? 0;
  };
  while (!ended.aborted) {
    await sleep(saveEveryMillis, undefined, { signal: ended }).catch(() => undefined);
    // A position that is not saved only costs a longer replay.
    await save().catch(options.onError);
  }
}

function bridgeMetrics(registry: Registry) {
  const registers = [registry];
  return {
    events: new Counter({
      name: "denrei_bridge_events_total",
      help: "Changes published to the object store.",
      labelNames: ["kind", "change"] as const,
      registers,
    }),
    lists: new Counter({
      name: "denrei_bridge_lists_total",
      help: "Full lists: at the first start, and when the API server no longer serves the position.",
      labelNames: ["kind"] as const,
      registers,
    }),
    oversized: new Counter({
      name: "denrei_bridge_oversized_total",
      help: "Changes that were left out because the object does not fit into a message of the bus.",
      labelNames: ["kind"] as const,
      registers,
    }),
    watches: new Counter({
      name: "denrei_bridge_watches_total",
      help: "Watch requests, each resuming where the one before ended.",
      labelNames: ["kind"] as const,
      registers,
    }),
    leading: new Gauge({
      name: "denrei_bridge_leading",
      help: "1 where this replica watches the kind, 0 where it stands by; a sum over the namespaces, if it watches only some.",
      labelNames: ["kind"] as const,
      registers,
    }),
  };
}
