/** The bridge watches kinds of one cluster and maintains the object store. Two or more replicas share the kinds. */
import type { KV } from "@nats-io/kv";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { publishedForm } from "../events/kubernetes.ts";
import type { KubeClient } from "../kube/client.ts";
import { optInLabel } from "../kube/domain.ts";
import { type Kind, kindText, Namespace } from "../kube/kind.ts";
import type { ListedFor } from "../kube/listedkinds.ts";
import type { Bus } from "../nats/connect.ts";
import { accountOf, accountUser } from "../process/accounts.ts";
import { startProcessClock } from "../process/clock.ts";
import { platformNamespace } from "../process/namespace.ts";
import type { ProcessContext } from "../process/run.ts";
import { Neighbors } from "../projects/neighbors.ts";
import { bridgeBucket, streams } from "../subjects.ts";
import { type BusOptions, ensureTopology, type FunctionSubscription } from "../topology.ts";
import type { SelectedEvent } from "../webhooks/sharedselection.ts";
import { bridgeAdvice } from "./deniedkinds.ts";
import type { LeaseTimes } from "./lease.ts";
import { sharedLease } from "./leases.ts";
import { followListed } from "./listed.ts";
import { bridgeMetrics } from "./metrics.ts";
import { followOptedIn } from "./optedin.ts";
import { optedInLeaseKey, positionKey } from "./position.ts";
import { registerQueueMetrics } from "./queuemetrics.ts";
import { Readiness } from "./readiness.ts";
import { RunningScopes, type StopScope } from "./runningscopes.ts";
import { type ScopeState, type ScopeTools, scopesOf } from "./scope.ts";
import { registerStreamMetrics } from "./streammetrics.ts";
import { keepTopology } from "./topologykeeper.ts";

/** Options of {@link startBridge}. */
export interface BridgeOptions {
  readonly bus: Bus;
  readonly busOptions: BusOptions;
  readonly client: KubeClient;
  /** Opens a client as the bridge. Default: `client`. */
  readonly clientAs?: ProcessContext["clientAs"];
  /** Namespace of the service account to impersonate. Default: the bridge has the rights of the process. */
  readonly impersonateNamespace?: string | undefined;
  readonly cluster: string;
  /** Unique among the replicas. */
  readonly replica: string;
  readonly kinds: readonly Kind[];
  /** Annotations to publish for kinds of which only the metadata is published. Default: none. */
  readonly annotations?: ReadonlySet<string>;
  /** The bridge creates the streams and consumers of these functions. Workers may not, where the bus has users. */
  readonly subscriptions?: readonly FunctionSubscription[];
  /** The webhooks of these functions, which gateways of other projects publish as well. */
  readonly webhooks?: readonly SelectedEvent[];
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

/** Starts a bridge. Resolves when it stands by or leads for every kind. */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { bus, cluster, replica, subscriptions = [], log, registry } = options;
  await ensureTopology(bus, options.busOptions, subscriptions, (stream) =>
    log.warn(
      { stream },
      "stream has no size limit: the NATS server could not reserve the storage; set max_bytes when it can",
    ),
  );
  const kv = await bus.kvm.open(bridgeBucket);
  const neighbors = await announced(options, kv);
  const stopping = new AbortController();
  const { signal } = stopping;
  const clock = await startProcessClock({ bus, stream: streams.objects, signal, log, registry });
  const metrics = bridgeMetrics(registry);
  registerQueueMetrics({ bus, subscriptions, clock, log, registry });
  registerStreamMetrics({ bus, subscriptions, log, registry });
  const client = await clientOf(options);
  const bridge = new RunningBridge({ ...options, client }, { kv, metrics, neighbors }, stopping);
  bridge.start();
  log.info({ kinds: [...bridge.states().keys()], cluster, replica }, "bridge ready");
  return bridge;
}

/** Tells other projects what this one needs. */
async function announced(options: BridgeOptions, kv: KV): Promise<Neighbors> {
  const { bus, busOptions, cluster, kinds, annotations = new Set(), webhooks = [] } = options;
  const neighbors = new Neighbors({ bus, kv, cluster, project: busOptions.project, annotations });
  await neighbors.announce({ kinds, webhooks });
  return neighbors;
}

/** The client of the bridge, with its own rights where the process impersonates. Errors say how to apply its role. */
async function clientOf({ client, clientAs, impersonateNamespace }: BridgeOptions): Promise<KubeClient> {
  if (clientAs === undefined) return client;
  return clientAs({
    advise: bridgeAdvice,
    ...(impersonateNamespace && { user: accountUser(accountOf("bridge"), impersonateNamespace) }),
  });
}

interface BridgeTools extends Pick<ScopeTools, "kv" | "metrics"> {
  readonly neighbors: Neighbors;
}

class RunningBridge implements Bridge {
  readonly #options: BridgeOptions;
  readonly #kv: KV;
  readonly #stopping: AbortController;
  readonly #readiness = new Readiness();
  readonly #neighbors: Neighbors;
  readonly #scopes: RunningScopes;
  /** The kinds that are listed now, by function. */
  readonly #listed = new Map<string, readonly Kind[]>();
  /** The current subscriptions, with the kinds that are listed now. */
  #subscriptions: readonly FunctionSubscription[];
  /** Loops that end when `#stopping` aborts. */
  readonly #loops: Promise<void>[] = [];
  /** Stop the scopes of kinds that are always watched. */
  readonly #stops: StopScope[] = [];

  constructor(options: BridgeOptions, tools: BridgeTools, stopping: AbortController) {
    this.#options = options;
    this.#kv = tools.kv;
    this.#stopping = stopping;
    this.#neighbors = tools.neighbors;
    this.#scopes = new RunningScopes({ ...options, ...tools }, this.#readiness);
    this.#subscriptions = options.subscriptions ?? [];
  }

  start(): void {
    const { kinds, lists = [], namespaces = [] } = this.#options;
    const optedIn = namespaces.length > 0 ? [] : kinds.filter(({ reach }) => reach === "opted-in");
    const always = kinds.filter((kind) => !optedIn.includes(kind));
    this.#loops.push(this.#keepTopology(), this.#followNeighbors());
    this.#stops.push(...always.flatMap((kind) => this.#scopes.startKind(kind)));
    if (optedIn.length > 0) this.#loops.push(this.#followOptedIn(optedIn));
    if (lists.length > 0) this.#loops.push(this.#followListed(lists));
  }

  states(): ReadonlyMap<string, ScopeState> {
    return this.#scopes.states;
  }

  notReady(): string | undefined {
    return this.#readiness.notReady();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#loops, ...this.#stops.map((stop) => stop())]);
  }

  #allKinds(): Kind[] {
    return [...this.#options.kinds, ...[...this.#listed.values()].flat()];
  }

  /** Publishes more or less of a kind when other projects need more or less of it. */
  async #followNeighbors(): Promise<void> {
    const { busOptions, log } = this.#options;
    if (busOptions.project === undefined) return;
    const published = (kind: Kind): string => {
      const { kind: found, annotations, partial } = this.#neighbors.shared(kind);
      return `${publishedForm(found, annotations)} ${partial}`;
    };
    const forms = () => new Map(this.#allKinds().map((kind) => [kindText(kind), published(kind)]));
    let before = forms();
    await this.#neighbors.follow({
      signal: this.#stopping.signal,
      onRead: () => {
        const now = forms();
        const isAffected = (kind: Kind) => now.get(kindText(kind)) !== before.get(kindText(kind));
        this.#scopes.restart("another project needs other fields", isAffected);
        before = now;
      },
      onError: (error) => log.warn({ err: error }, "failed to read the needs of other projects, retrying"),
    });
  }

  #keepTopology(): Promise<void> {
    const { bus, busOptions, log } = this.#options;
    return keepTopology({
      bus,
      busOptions,
      subscriptions: () => this.#subscriptions,
      published: () => this.#scopes.objects,
      signal: this.#stopping.signal,
      log,
      onObjectsLost: (how) => this.#scopes.restart(how),
      onProblem: (error) => this.#readiness.setTopologyError(error),
    });
  }

  /** Watches the kinds in each opted-in namespace. The namespaces of a kind share a lease. */
  #followOptedIn(kinds: readonly Kind[]): Promise<void> {
    const { client, cluster, busOptions, log } = this.#options;
    const scopes = this.#scopes;
    const name = `${kindText(Namespace)} with the label ${optInLabel}`;
    const shared = kinds.map((kind) => ({
      kind,
      lease: sharedLease(scopes.leaseOf(optedInLeaseKey(cluster, kind, busOptions.project))),
    }));
    return followOptedIn({
      client,
      signal: this.#stopping.signal,
      log,
      onProblem: (error) => this.#readiness.setWatchError(name, error),
      enter(namespace) {
        const stops = shared.map(({ kind, lease }) => scopes.start(kind, namespace, { lease }));
        return async () => void (await Promise.all(stops.map((stop) => stop())));
      },
    });
  }

  /** Watches the kinds that the installation lists, while it lists them. */
  #followListed(lists: readonly ListedFor[]): Promise<void> {
    const { client, kinds, log } = this.#options;
    const watched = new Set(kinds.map(kindText));
    return followListed({
      client,
      platformNamespace,
      lists,
      signal: this.#stopping.signal,
      log,
      prepare: (fn, listed) => this.#subscribe(fn, listed),
      enter: (kind, { rightsCommand }) => {
        // Another function may own or watch the same kind.
        const stops = watched.has(kindText(kind)) ? [] : this.#scopes.startKind(kind, { rightsCommand });
        return async (why) => {
          await Promise.all(stops.map((stop) => stop()));
          const isUnused = why === "unlisted" && this.#neighbors.shared(kind).projects.length === 0;
          if (isUnused && stops.length > 0) await this.#deletePositions(kind);
        };
      },
    });
  }

  /** Creates the router's subscription to listed kinds, before their first event is published. */
  async #subscribe(fn: string, listed: readonly Kind[]): Promise<void> {
    const { bus, busOptions, webhooks = [] } = this.#options;
    this.#listed.set(fn, listed);
    await this.#neighbors.announce({ kinds: this.#allKinds(), webhooks });
    this.#subscriptions = this.#subscriptions.map((subscription) =>
      subscription.scope.fn === fn ? { ...subscription, listed } : subscription,
    );
    await ensureTopology(bus, busOptions, this.#subscriptions);
  }

  async #deletePositions(kind: Kind): Promise<void> {
    const { cluster, namespaces } = this.#options;
    const keys = scopesOf(kind, namespaces).map((namespace) => positionKey(cluster, kind, namespace));
    await Promise.all(keys.map((key) => this.#kv.delete(key)));
  }
}
