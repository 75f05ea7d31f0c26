/** The declaration of a function. RBAC, streams and consumers follow from it. */
import type { Logger } from "pino";
import type { ConditionUpdate } from "../kube/conditions.ts";
import { domain } from "../kube/domain.ts";
import type { Kind } from "../kube/kind.ts";
import type { ListedKinds } from "../kube/listedkinds.ts";
import type { KubeObject, Stored } from "../kube/object.ts";
import type { Find, IndexValues } from "../objects/indexes.ts";
import type { Cause } from "../queue/request.ts";
import type { ObjectKey } from "../subjects.ts";
import type { FunctionSubscription } from "../topology.ts";
import type { WebhookTrigger } from "../webhooks/provider.ts";
import type { ListOptions, NewChild, StatusFields } from "./arguments.ts";
import { definedKinds, namedKinds } from "./definedkinds.ts";
import { nameProblem } from "./names.ts";
import { checkOutbound, type Outbound } from "./outbound.ts";
import { checkFilters, isOwnedKind, type OwnedKind, routerFilters } from "./ownfilters.ts";
import { type Filter, isFiltered, type Watch } from "./watch.ts";

export type { Outbound } from "./outbound.ts";
export type { OwnedKind } from "./ownfilters.ts";
export type { Filter, Keys, Watch } from "./watch.ts";

/** The result of a successful reconcile. A reconcile that returns nothing runs again when something changes. */
export interface Result {
  /** Delay until the next reconcile, in milliseconds; 0 means at once. Survives the crash of every worker. */
  readonly requeueAfter?: number;
}

/** Reads of the object store on the bus: cheap, and at least as new as the event that caused the reconcile. */
export interface Reads {
  /** Reads one object by name. Default namespace: that of the reconciled object; a cluster-scoped kind has none. */
  get<T extends KubeObject>(kind: Kind<T>, name: string, namespace?: string): Promise<Stored<T> | undefined>;
  /** Reads the objects of a kind that `owner` controls by uid, in no order. Default: the reconciled object. */
  children<T extends KubeObject>(kind: Kind<T>, owner?: Stored): Promise<Stored<T>[]>;
  /**
   * Reads the objects of a kind, in no order. Default: all in the namespace of the reconciled object. Sees what the bridge
   * publishes: only the opted-in namespaces of Secrets, and only those of `DENREI_NAMESPACES` if it is set.
   */
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<Stored<T>[]>;
  /** Looks up objects of the function's kind by one of its indexes. */
  readonly find: Find;
}

/** The context of a reconcile. Every write throws when this worker no longer owns the object. */
export interface Context {
  readonly key: ObjectKey;
  /** The cause of this reconcile. A hint for logs: reconcile from state, never from the cause. */
  readonly cause: Cause;
  /** All causes: `cause`, and those that arrived while the object was owned. Also only a hint. */
  readonly causes: readonly Cause[];
  /** Failed attempts before this one. */
  readonly attempt: number;
  /** The name of this worker replica. */
  readonly replica: string;
  /** The cluster's name on the bus: `DENREI_CLUSTER`, or `default`. */
  readonly cluster: string;
  /** Aborts when ownership is lost, the time limit is reached, or the worker shuts down. Pass it to every call that waits. */
  readonly signal: AbortSignal;
  /** Throws when this worker no longer owns the object. Call it right before an effect outside Kubernetes. */
  assertOwned(): void;
  /** Carries function, key, attempt and trace id. */
  readonly log: Logger;
  /**
   * The time by the clock of the bus, which all replicas share: milliseconds since the epoch. Use it instead of `Date.now()`
   * for every time that is stored, or compared with a stored one.
   */
  now(): number;
  readonly read: Reads;
  /** Reads of the API server, for when staleness would hurt. Namespaces have the same defaults as in `read`. */
  readonly live: {
    get: Reads["get"];
    /** Lists the objects of a kind. Needs a permission for `list`, which the error names; Secrets cannot be listed. */
    list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<readonly Stored<T>[]>;
    /** Looks up a kind that the API server serves, in this version or, failing that, in the preferred one. */
    kind(apiVersion: string, kind: string): Promise<Kind | undefined>;
    /**
     * Reads the last lines of a container's log. Undefined if the pod no longer exists or was never scheduled. Needs a
     * permission for `pods/log`.
     */
    podLog(
      pod: string,
      options: { readonly container: string; readonly lines: number; readonly namespace?: string },
    ): Promise<string | undefined>;
  };
  /**
   * Creates a child under a deterministic name. Returns an existing child of that name unchanged. Throws a {@link BlockedError}
   * with the reason `NameTaken` if this object does not control it.
   */
  create<T extends KubeObject>(kind: Kind<T>, child: NewChild<T>): Promise<Stored<T>>;
  /** JSON merge patch on this version of the object; no call when it changes nothing. Throws a conflict if the version is stale. */
  patch<T extends KubeObject>(kind: Kind<T>, object: Stored<T>, patch: object): Promise<Stored<T>>;
  /**
   * Server-side apply of a child with this function's field manager: removes fields that it applied before and that are no longer
   * desired, and keeps fields of other managers. No call if the child already matches. If the child has changed since it was
   * read, the apply uses the newer version, and the reconcile runs again afterwards. Throws a {@link BlockedError} with the
   * reason `NameTaken` if this object does not control the child. To adopt a child that has lost its owner reference, pass its
   * uid.
   */
  apply<T extends KubeObject>(
    kind: Kind<T>,
    child: NewChild<T>,
    options?: { readonly uid?: string | undefined },
  ): Promise<Stored<T>>;
  /**
   * Server-side apply of fields of an object that is not a child. Pass all fields that this function ever sets. Throws a conflict
   * if the object no longer exists.
   */
  applyFields<T extends KubeObject>(kind: Kind<T>, object: Stored<T>, fields: object): Promise<Stored<T>>;
  /**
   * Deletes exactly this object (by uid). No error if it no longer exists. With `Foreground` it remains until its dependents are
   * deleted.
   */
  delete(kind: Kind, object: Stored, options?: { readonly propagation?: "Foreground" }): Promise<void>;
  /**
   * Writes status fields and conditions of the reconciled kind; no call when nothing changes. Null clears a field, undefined
   * keeps it.
   */
  status<T extends KubeObject>(
    kind: Kind<T>,
    object: Stored<T>,
    status: StatusFields<T>,
    conditions?: readonly ConditionUpdate[],
  ): Promise<Stored<T>>;
  /** Records a Kubernetes Event about the reconciled object; the same event within an hour is recorded once. */
  event(type: "Normal" | "Warning", reason: string, note: string): void;
}

/** A rule of a Role or ClusterRole (`rbac.authorization.k8s.io/v1`). */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** The declaration of a function by its author. `W` are the types of the watched objects, and `O` those of the children. */
export interface FunctionOptions<
  T extends KubeObject,
  W extends readonly KubeObject[] = readonly KubeObject[],
  O extends readonly KubeObject[] = readonly KubeObject[],
> {
  /** A DNS label of at most 40 characters. Names the stream, the consumers and the Deployment. */
  readonly name: string;
  /** Field manager of its writes. Default: `denrei.dev/` and its name. */
  readonly fieldManager?: string;
  /** The kind that is reconciled. */
  readonly for: Kind<T>;
  /**
   * Limits the objects that are reconciled to those that match `labels`, `fields`, and `where`, and the changes of the object
   * that request a reconcile to those of `changed`. An object that is being deleted and has the function's finalizer is finalized
   * whether or not it matches. With `changed`, the filter costs as much as that of a {@link Watch}, otherwise nothing.
   */
  readonly filter?: Filter<T>;
  /**
   * Another function reconciles the same objects and reports their status. Failures of this one appear only in its logs, its dead
   * letters, and the conditions that it writes itself.
   */
  readonly secondary?: boolean;
  /** Kinds of children, or kinds with a filter: a change of a child enqueues its controller. */
  readonly owns?: { readonly [I in keyof O]: Kind<O[I]> | OwnedKind<O[I]> };
  /** Further kinds of children, listed by the installation. Roles for them are not generated. */
  readonly ownsListed?: ListedKinds;
  readonly watches?: { readonly [I in keyof W]: Watch<W[I]> };
  /**
   * Indexes by name: each function returns the values that an object is found by. Rename an index when its values change: under a
   * new name all objects are indexed again.
   */
  readonly indexes?: Readonly<Record<string, (object: Stored<T>) => readonly string[]>>;
  /** Webhooks that enqueue requests, such as `github.on("push", …)`. */
  readonly webhooks?: readonly WebhookTrigger[];
  /** Concurrent reconciles in one worker process. Default 10. */
  readonly concurrency?: number;
  /** Time limit of one reconcile, in milliseconds. After it the reconcile is aborted and retried. Default 60,000. */
  readonly timeoutMillis?: number;
  /**
   * Interval in milliseconds at which every object is reconciled, independent of events and timers. Without it, objects are
   * reconciled only on events and timers.
   */
  readonly sweepMillis?: number;
  /** Memory limit of its worker in a cluster, in MiB. Default 512. */
  readonly memoryMebibytes?: number;
  /** Cluster-wide permissions beyond those that follow from the declaration. They must not cover Secrets. */
  readonly permissions?: readonly PolicyRule[];
  /** Network access besides the API server and the bus. Default: none. */
  readonly outbound?: Outbound;
  /** Brings the actual state to the desired state of the object. Level-triggered and idempotent: it may run at any time, and twice. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a function without `return` has this type.
  reconcile(object: Stored<T>, ctx: Context): Promise<Result | void>;
  /**
   * Annotations that this function reads on Secrets, ConfigMaps, and other kinds whose metadata alone is published. All other
   * annotations stay off the bus, because tools store copies of the content in them.
   */
  readonly annotations?: readonly string[];
  /** Cleans up resources outside Kubernetes. With it, the platform sets a finalizer before the first reconcile. */
  // biome-ignore lint/suspicious/noConfusingVoidType: as above.
  finalize?(object: Stored<T>, ctx: Context): Promise<Result | void>;
}

/** A function with its defaults filled in. The object type is checked in `defineFunction`. */
export interface ReconcileFunction
  extends Omit<
    FunctionOptions<KubeObject>,
    "filter" | "owns" | "watches" | "indexes" | "webhooks" | "permissions" | "outbound"
  > {
  readonly fieldManager: string;
  readonly filter: Filter | undefined;
  readonly owns: readonly Kind[];
  /** Those of the children's kinds that have a filter. */
  readonly ownsFiltered: readonly OwnedKind[];
  readonly watches: readonly Watch[];
  readonly indexes: Readonly<Record<string, IndexValues>>;
  readonly webhooks: readonly WebhookTrigger[];
  readonly permissions: readonly PolicyRule[];
  readonly outbound: Outbound;
  readonly annotations: readonly string[];
  readonly concurrency: number;
  readonly timeoutMillis: number;
  readonly memoryMebibytes: number;
  /** The finalizer; undefined without `finalize`. */
  readonly finalizer: string | undefined;
}

/**
 * Declares a function.
 *
 * @example
 * ```ts
 * export default defineFunction({
 *   name: "hikawa", for: Hikawa, owns: [Zundoko, Kiyoshi],
 *   async reconcile(hikawa, ctx) { …; return { requeueAfter: 500 }; },
 * });
 * ```
 */
export function defineFunction<
  T extends KubeObject,
  const W extends readonly KubeObject[] = readonly KubeObject[],
  const O extends readonly KubeObject[] = readonly KubeObject[],
>(options: FunctionOptions<T, W, O>): ReconcileFunction {
  const problem = nameProblem("function", options.name);
  if (problem !== undefined) throw new TypeError(problem);
  if (options.permissions?.some(coversSecrets)) {
    throw new TypeError(
      `expected permissions of "${options.name}" that do not cover Secrets, which are granted only in opted-in namespaces: ` +
        "list Secret among the kinds that it owns or watches",
    );
  }
  const definition: FunctionOptions<T, W, O> = options;
  const owns = (options.owns ?? []) as readonly (Kind | OwnedKind)[];
  const defined: ReconcileFunction = {
    ...(definition as unknown as FunctionOptions<KubeObject>),
    fieldManager: options.fieldManager ?? `${domain}/${options.name}`,
    filter: options.filter as Filter | undefined,
    owns: owns.map((one) => (isOwnedKind(one) ? one.kind : one)),
    ownsFiltered: owns.filter(isOwnedKind).filter(isFiltered),
    watches: (options.watches ?? []) as readonly Watch[],
    indexes: (options.indexes ?? {}) as Readonly<Record<string, IndexValues>>,
    webhooks: options.webhooks ?? [],
    permissions: options.permissions ?? [],
    outbound: options.outbound ?? {},
    annotations: options.annotations ?? [],
    concurrency: options.concurrency ?? 10,
    timeoutMillis: options.timeoutMillis ?? 60_000,
    memoryMebibytes: options.memoryMebibytes ?? 512,
    finalizer: options.finalize ? `${domain}/${options.name}` : undefined,
  };
  checkFilters(defined);
  checkOutbound(defined.name, defined.outbound);
  // Throws if a kind has two definitions.
  definedKinds([defined]);
  return defined;
}

const coversSecrets = ({ apiGroups, resources }: PolicyRule): boolean =>
  apiGroups.some((group) => ["", "*"].includes(group)) &&
  resources.some((resource) => ["secrets", "*"].includes(resource));

/** Streams and consumers that functions need in a cluster. */
export const subscriptionsOf = (
  functions: readonly ReconcileFunction[],
  cluster: string,
): FunctionSubscription[] => functions.map((fn) => subscriptionOf(fn, cluster));

/** Streams and consumers that one function needs in a cluster. */
export const subscriptionOf = (fn: ReconcileFunction, cluster: string): FunctionSubscription => ({
  scope: { fn: fn.name, cluster },
  kinds: kindsOf(fn),
  ...(fn.ownsListed && { ownsListed: true }),
  webhooks: fn.webhooks.map(({ provider, event }) => ({ provider: provider.name, event })),
  indexes: Object.keys(fn.indexes),
  filters: routerFilters(fn),
});

/** Every kind that a function needs on the bus. */
export function kindsOf(fn: ReconcileFunction): Kind[] {
  const kinds = namedKinds(fn);
  return kinds.filter(
    (kind, at) => kinds.findIndex((other) => other.kind === kind.kind && other.group === kind.group) === at,
  );
}
