/** One kind, in all namespaces or in one, on one replica of the bridge: it stands by, or leads and watches. */
import type { KV } from "@nats-io/kv";
import type { Logger } from "pino";
import { publishedForm } from "../events/kubernetes.ts";
import type { KubeClient } from "../kube/client.ts";
import { isForbidden } from "../kube/errors.ts";
import { type Kind, kindText } from "../kube/kind.ts";
import type { Bus } from "../nats/connect.ts";
import type { Neighbors } from "../projects/neighbors.ts";
import type { SharedKind } from "../projects/sharedkind.ts";
import { WatchRefusedError } from "./deniedkinds.ts";
import type { Lease } from "./leases.ts";
import type { bridgeMetrics } from "./metrics.ts";
import { keepSaved, type Position, positionKey, savedExtent, savedForm, servedPosition } from "./position.ts";
import type { Lead } from "./progress.ts";
import { openPublisher, type Publisher, type PublisherOptions } from "./publisher.ts";
import { objectsCreatedAt } from "./topologykeeper.ts";
import { type WatcherState, watchKind } from "./watcher.ts";

/** The state of a scope on this replica. */
export type ScopeState = WatcherState["name"] | "standby";

/** What all scopes of a bridge share. */
export interface ScopeTools {
  readonly bus: Bus;
  readonly client: KubeClient;
  readonly kv: KV;
  readonly cluster: string;
  /** Unique among the replicas. */
  readonly replica: string;
  readonly log: Logger;
  readonly metrics: ReturnType<typeof bridgeMetrics>;
  /** What to publish of each kind. */
  readonly neighbors: Pick<Neighbors, "refresh" | "shared">;
  readonly watchSeconds?: number | undefined;
}

/** Options of {@link startScope}. */
export interface ScopeOptions extends ScopeTools {
  readonly kind: Kind;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  /** For a kind that the installation lists: the command that prints its roles. */
  readonly rightsCommand?: string | undefined;
  /** Held while the scope is watched. */
  readonly lease: Lease;
  /** Gives the lease back when the bridge may not watch the kind and another project's bridge may. */
  readonly yields: boolean;
  readonly onState: (state: ScopeState) => void;
  /** Called with the error that keeps the scope from being watched, unless a person has to grant a role; undefined when it is watched. */
  readonly onProblem: (error: Error | undefined) => void;
}

/** A running scope: it leads or stands by. */
export interface Scope {
  /** If it leads, starts again from what is on the bus then. */
  restart(why: string): void;
  /** Gives the lease back if held. Messages on the bus stay. */
  stop(): Promise<void>;
}

/** Name of a scope in logs, states, and errors: `Secret in team-a`. */
export const scopeText = (kind: Kind, namespace: string | undefined): string =>
  namespace === undefined ? kindText(kind) : `${kindText(kind)} in ${namespace}`;

/** The namespaces of a kind's scopes: the watched ones, each its own, or all together as undefined. */
export const scopesOf = (
  { scope }: Pick<Kind, "scope">,
  watched: readonly string[] = [],
): readonly (string | undefined)[] => (scope === "Namespaced" && watched.length > 0 ? watched : [undefined]);

/** While no other bridge can watch a kind either, one that may not watch it tries again at growing intervals, in milliseconds. */
const asideMillis = 1000;
const asideCapMillis = 30_000;

const isRefusal = (error: unknown): boolean =>
  isForbidden(error) || isForbidden((error as Error | undefined)?.cause);

/** Stands by for a scope, and watches it while the lease is held. */
export function startScope(options: ScopeOptions): Scope {
  const { kind, namespace, lease, metrics, log, onState } = options;
  const name = scopeText(kind, namespace);
  const labels = { kind: kindText(kind) };
  const stopping = new AbortController();
  let restart = new AbortController();
  let lastError: string | undefined;
  /** How often in a row the bridge gave the lease back, because it may not watch the kind. */
  let refusals = 0;

  function onProblem(error: Error | undefined): void {
    const watched = { ...labels, namespace: namespace ?? "*" };
    const refused = error instanceof WatchRefusedError;
    if (refused) metrics.refused.set(watched, 1);
    else metrics.refused.remove(watched);
    lastError = error?.message;
    // A missing role does not make the bridge unready.
    options.onProblem(refused ? undefined : error);
  }

  // Start the counter at 0, so that its first increase is visible.
  metrics.oversized.inc(labels, 0);
  onState("standby");
  const leave = metrics.progress.enter(labels.kind);
  const done = lease.join({
    signal: stopping.signal,
    onError(error) {
      const level = lastError === (error as Error).message ? "debug" : "warn";
      onProblem(error as Error);
      log[level]({ err: error, kind: name }, "failed to lead this kind, retrying");
    },
    onStandby: () => onProblem(undefined),
    asideMillis: () => (refusals === 0 ? 0 : Math.min(asideCapMillis, asideMillis * 2 ** refusals)),
    async lead(held, assertHeld) {
      const lead = { ...options, onProblem, held, assertHeld, log: log.child({ kind: name }) };
      try {
        do {
          restart = new AbortController();
          await watchWhileHeld({ ...lead, restarted: restart.signal });
        } while (restart.signal.aborted && !held.aborted);
        refusals = 0;
      } catch (error) {
        refusals = isRefusal(error) ? refusals + 1 : 0;
        throw error;
      } finally {
        onState("standby");
        const reason = held.reason instanceof Error ? held.reason.message : "broken";
        log.info({ kind: name, reason }, "standing by");
      }
    },
  });
  return {
    restart: (why) => restart.abort(new Error(why)),
    async stop() {
      stopping.abort();
      await done;
      leave();
      onProblem(undefined);
    },
  };
}

/** Options of a scope that is led, without its neighbors: with what it publishes for them. */
interface LedOptions extends Omit<LeadOptions, "neighbors"> {
  readonly shared: SharedKind;
}

interface LeadOptions extends ScopeOptions {
  readonly held: AbortSignal;
  readonly restarted: AbortSignal;
  readonly assertHeld: () => void;
}

async function watchWhileHeld({ neighbors, ...given }: LeadOptions): Promise<void> {
  const { bus, cluster, namespace, kv, held, metrics, log } = given;
  await neighbors.refresh();
  const shared = neighbors.shared(given.kind);
  const { kind } = shared;
  const options = { ...given, kind, shared };
  if (shared.partial)
    log.warn(
      { version: kind.version, projects: shared.projects },
      "projects use the kind in different versions: publishing its metadata, functions read the rest from the API server",
    );
  const key = positionKey(cluster, kind, namespace);
  const [saved, stream] = await Promise.all([kv.get(key), objectsCreatedAt(bus)]);
  const form = `${publishedForm(kind, shared.annotations)}${shared.partial ? " in part" : ""}`;
  const former = savedForm(saved);
  const broken = new AbortController();
  const publisher = await openPublisher({
    ...publisherOptions(options),
    position: servedPosition(saved, stream),
    extent: savedExtent(saved),
    renew: former !== form,
    onFailed: (error) => broken.abort(error),
  });
  log.info({ resourceVersion: publisher.position ?? "none", objects: publisher.count }, "leading");
  const ended = new AbortController();
  const progress = metrics.progress.lead(kindText(kind), publisher, ended.signal);
  const watch = new LeaderWatch(options, publisher, progress, (error) => broken.abort(error));
  const saving = keepSaved({
    kv,
    key,
    lease: options.lease.key,
    revision: saved?.revision ?? 0,
    ended: ended.signal,
    onError: (error) => log.warn({ err: error }, "failed to save position, retrying"),
    now: () => ({
      ...watch.position(),
      stream,
      // Until the first list is complete, the bus may have some objects in the former form.
      form: publisher.position === undefined ? former : form,
    }),
  });
  try {
    await watch.run(AbortSignal.any([held, broken.signal, options.restarted]));
    // Losing the lease is not an error.
    if (!held.aborted) broken.signal.throwIfAborted();
  } finally {
    ended.abort();
    await saving;
  }
}

/** Options of a scope's publisher that do not depend on what is saved. */
function publisherOptions(options: LedOptions): PublisherOptions {
  const { bus, cluster, kind, namespace, shared, held, assertHeld, metrics, log } = options;
  const labels = { kind: kindText(kind) };
  return {
    bus,
    cluster,
    kind,
    namespace,
    annotations: shared.annotations,
    inPart: shared.partial,
    signal: held,
    assertHeld,
    onPublished: (change) => metrics.events.inc({ ...labels, change }),
    onSettled: (millis) => metrics.published.observe(labels, millis / 1000),
    onUnreadable: (subject) =>
      log.warn({ subject }, "found a message that no bridge wrote, listing to correct it"),
    onOversized(object) {
      metrics.oversized.inc(labels);
      log.warn(object, "object larger than max_payload, functions read it from the API server");
    },
    observe: ({ subject, tries, error }) =>
      log[tries === 1 ? "warn" : "debug"]({ subject, tries, err: error }, "publish not answered, retrying"),
  };
}

/** The watch of a scope that this replica leads. */
class LeaderWatch {
  readonly #options: LedOptions;
  readonly #publisher: Publisher;
  readonly #progress: Lead;
  readonly #giveUp: (error: Error) => void;
  #state: WatcherState["name"] = "listing";

  constructor(options: LedOptions, publisher: Publisher, progress: Lead, giveUp: (error: Error) => void) {
    this.#options = options;
    this.#publisher = publisher;
    this.#progress = progress;
    this.#giveUp = giveUp;
  }

  /** How far the watch has come. */
  position(): Omit<Position, "time" | "stream" | "form"> {
    const { position, count, sequence } = this.#publisher;
    return {
      resourceVersion: position ?? "",
      holder: this.#options.replica,
      state: this.#state,
      objects: count,
      sequence,
    };
  }

  /** Watches until `signal` aborts or the publisher fails. */
  run(signal: AbortSignal): Promise<void> {
    const { client, kind, namespace, rightsCommand, watchSeconds = 60, log } = this.#options;
    return watchKind({
      client,
      kind,
      namespace,
      rightsCommand,
      publisher: this.#publisher,
      watchSeconds,
      signal,
      log,
      onProblem: (error) => this.#onProblem(error),
      onState: (state) => this.#onState(state),
    });
  }

  #onProblem(error: Error | undefined): void {
    // Without the permission there is nothing to catch up with.
    if (error === undefined || error instanceof WatchRefusedError) this.#progress.catchesUp();
    else this.#progress.fallsBehind();
    const { onProblem, yields, shared } = this.#options;
    onProblem(error);
    if (error && isRefusal(error) && yields && shared.projects.length > 0) this.#giveUp(error);
  }

  #onState({ name }: WatcherState): void {
    const { kind, metrics, onState } = this.#options;
    const labels = { kind: kindText(kind) };
    if (name === "listing") {
      metrics.lists.inc(labels);
      this.#progress.fallsBehind();
    }
    if (name === "watching") metrics.watches.inc(labels);
    this.#state = name;
    onState(name);
  }
}
