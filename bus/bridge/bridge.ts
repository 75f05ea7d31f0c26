/** The bridge watches kinds of one cluster and maintains the object store. Two or more replicas share the kinds. */
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { KubeClient } from "../kube/client.ts";
import { optInLabel } from "../kube/domain.ts";
import { type Kind, kindText, Namespace } from "../kube/kind.ts";
import type { ListedFor } from "../kube/listedkinds.ts";
import type { Bus } from "../nats/connect.ts";
import { isNotStored, notStored } from "../nats/publishbacklog.ts";
import { startProcessClock } from "../process/clock.ts";
import { platformNamespace } from "../process/namespace.ts";
import { bridgeBucket, streams } from "../subjects.ts";
import { type BusOptions, ensureTopology, type Interest } from "../topology.ts";
import type { LeaseTimes } from "./lease.ts";
import { type Lease, ownLease, sharedLease } from "./leases.ts";
import { followListed } from "./listed.ts";
import { bridgeMetrics } from "./metrics.ts";
import { followOptedIn } from "./optedin.ts";
import { leaseKey, positionKey } from "./position.ts";
import { registerQueueMetrics } from "./queuemetrics.ts";
import { type Scope, type ScopeState, scopeText, startScope } from "./scope.ts";
import { registerStreamMetrics } from "./streammetrics.ts";
import { keepTopology } from "./topologykeeper.ts";

/** Options of {@link startBridge}. */
export interface BridgeOptions {
  readonly bus: Bus;
  readonly busOptions: BusOptions;
  readonly client: KubeClient;
  readonly cluster: string;
  /** Unique among the replicas. */
  readonly replica: string;
  readonly kinds: readonly Kind[];
  /** Annotations to publish for kinds of which only the metadata is published. Default: none. */
  readonly annotations?: ReadonlySet<string>;
  /** The bridge creates the streams and consumers of these functions. Workers may not, where the bus has users. */
  readonly interests?: readonly Interest[];
  /** Kinds that the installation lists for functions. Each is watched while it is listed. */
  readonly lists?: readonly ListedFor[];
  /** Watch only these namespaces. If empty: all of them, or, for opted-in kinds, those with the label. */
  readonly namespaces?: readonly string[];
  readonly log: Logger;
  readonly registry: Registry;
  readonly watchSeconds?: number;
  readonly leaseTimes?: LeaseTimes;
}

/** A running bridge. */
export interface Bridge {
  /** Per kind: `standby`, or the state of its watcher. */
  states(): ReadonlyMap<string, ScopeState>;
  /** Names a kind that could not be watched for some seconds, with the reason; undefined when all is well. */
  notReady(): string | undefined;
  stop(): Promise<void>;
}

/** Options of a scope. */
interface StartOptions {
  readonly lease?: Lease;
  readonly rightsCommand?: string;
}

/** Most broken watches reopen at once. After this long, the bridge reports that it is not ready. Milliseconds. */
const troubledMillis = 5000;

/** Starts a bridge. Resolves when it stands by or leads for every kind. */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { bus, cluster, replica, kinds, namespaces = [], client, log } = options;
  await ensureTopology(bus, options.busOptions, options.interests, (stream) =>
    log.warn(
      { stream },
      "stream has no size limit: the NATS server could not reserve the storage; set max_bytes when it can",
    ),
  );
  const kv = await bus.kvm.open(bridgeBucket);
  const stopping = new AbortController();
  const { signal } = stopping;
  const clock = await startProcessClock({
    bus,
    stream: streams.objects,
    signal,
    log,
    registry: options.registry,
  });
  const tools = { ...options, kv, metrics: bridgeMetrics(options.registry) };
  registerQueueMetrics({ bus, interests: options.interests ?? [], clock, log, registry: options.registry });
  registerStreamMetrics({ bus, interests: options.interests ?? [], log, registry: options.registry });
  const scopes = new Set<Scope>();
  let interests = options.interests ?? [];
  let topologyTrouble: Error | undefined;
  const keeping = keepTopology({
    ...options,
    interests: () => interests,
    published: () => tools.metrics.progress.objects(),
    signal: stopping.signal,
    onObjectsLost(how) {
      for (const scope of scopes) scope.restart(how);
    },
    onTrouble(error) {
      topologyTrouble = error;
    },
  });
  const states = new Map<string, ScopeState>();
  const troubles = new Map<string, { readonly since: number; readonly error: Error }>();

  const troubleOf =
    (name: string) =>
    (error: Error | undefined): void => {
      if (error === undefined) troubles.delete(name);
      else troubles.set(name, { since: troubles.get(name)?.since ?? performance.now(), error });
    };

  const leaseOf = (kind: Kind, namespace?: string) => ({
    kv,
    key: leaseKey(cluster, kind, namespace),
    holder: replica,
    times: options.leaseTimes,
  });

  function start(
    kind: Kind,
    namespace: string | undefined,
    { lease = ownLease(leaseOf(kind, namespace)), rightsCommand }: StartOptions = {},
  ): Scope {
    const name = scopeText(kind, namespace);
    const onState = (state: ScopeState) => states.set(name, state);
    // A missing role for a listed kind does not make the bridge unready.
    const onTrouble = rightsCommand === undefined ? troubleOf(name) : () => undefined;
    const scope = startScope({ ...tools, kind, namespace, lease, rightsCommand, onState, onTrouble });
    scopes.add(scope);
    return {
      ...scope,
      async stop() {
        scopes.delete(scope);
        await scope.stop();
        states.delete(name);
      },
    };
  }

  const optedIn = namespaces.length > 0 ? [] : kinds.filter(({ reach }) => reach === "opted-in");
  const startAll = (kind: Kind, more?: StartOptions): Scope[] =>
    kind.scope === "Namespaced" && namespaces.length > 0
      ? namespaces.map((namespace) => start(kind, namespace, more))
      : [start(kind, undefined, more)];
  const lasting = kinds.filter((kind) => !optedIn.includes(kind)).flatMap((kind) => startAll(kind));
  const shared = optedIn.map((kind) => ({ kind, lease: sharedLease(leaseOf(kind)) }));
  const following =
    optedIn.length > 0 &&
    followOptedIn({
      client,
      signal: stopping.signal,
      log,
      onTrouble: troubleOf(`${kindText(Namespace)} with the label ${optInLabel}`),
      enter(namespace) {
        const scopes = shared.map(({ kind, lease }) => start(kind, namespace, { lease }));
        return async () => void (await Promise.all(scopes.map((scope) => scope.stop())));
      },
    });
  const watched = new Set(kinds.map(kindText));
  const { lists = [] } = options;
  const listing =
    lists.length > 0 &&
    followListed({
      ...{ client, lists, platformNamespace, log },
      signal: stopping.signal,
      async prepare(fn, listed) {
        interests = interests.map((interest) =>
          interest.scope.fn === fn ? { ...interest, listed } : interest,
        );
        // Create the router's subscription before the first event is published.
        await ensureTopology(bus, options.busOptions, interests);
      },
      enter(kind, { rightsCommand }) {
        // Another function may own or watch the same kind.
        const scopes = watched.has(kindText(kind)) ? [] : startAll(kind, { rightsCommand });
        return async (why) => {
          await Promise.all(scopes.map((scope) => scope.stop()));
          if (why === "stopped" || scopes.length === 0) return;
          const places = namespaces.length > 0 ? namespaces : [undefined];
          await Promise.all(places.map((namespace) => kv.delete(positionKey(cluster, kind, namespace))));
        };
      },
    });
  log.info({ kinds: [...states.keys()], cluster, replica }, "bridge ready");
  return {
    states: () => states,
    notReady() {
      for (const [name, { since, error }] of troubles) {
        if (performance.now() - since <= troubledMillis) continue;
        // The lease is stored on the bus: if the bus stores nothing, no replica can hold it.
        return isNotStored(error) ? notStored(error) : `${name} is not watched: ${error.message}`;
      }
      return topologyTrouble && `failed to ensure the bus topology: ${topologyTrouble.message}`;
    },
    async stop() {
      stopping.abort();
      await Promise.all([keeping, following, listing, ...lasting.map((scope) => scope.stop())]);
    },
  };
}
