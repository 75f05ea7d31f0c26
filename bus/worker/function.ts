/** The declaration of a function. RBAC, streams and consumers follow from it. */
import type { Logger } from "pino";
import type { WebhookEventName } from "../events/github/payloads.ts";
import type { ConditionUpdate } from "../kube/conditions.ts";
import { domain, optedInRole } from "../kube/domain.ts";
import { type Kind, kindText } from "../kube/kind.ts";
import { type ListedKinds, listOf } from "../kube/listedkinds.ts";
import type { KubeObject, Stored } from "../kube/object.ts";
import { haveSameDefinition } from "../kube/samekind.ts";
import type { Find, IndexValues } from "../objects/indexes.ts";
import type { Cause } from "../queue/request.ts";
import { functionNamePattern, type ObjectKey } from "../subjects.ts";
import type { Interest } from "../topology.ts";
import type { Webhook } from "../webhooks/received.ts";

/** What a reconcile asks for when it ends well; nothing means "wake me when something changes". */
export interface Result {
  /** Reconcile again after so many milliseconds, even if every worker dies meanwhile. 0 is at once. */
  readonly requeueAfter?: number;
}

/**
 * A child to create: the platform adds apiVersion, kind, namespace and the controller reference. One of a kind in no
 * namespace gets labels and annotations instead (`clusterchild.ts`), and is not garbage-collected: delete it in `finalize`.
 */
export type NewChild<T extends KubeObject> = Omit<T, "apiVersion" | "kind" | "metadata" | "status"> & {
  readonly metadata: Pick<T["metadata"], "name"> & Partial<Pick<T["metadata"], "labels" | "annotations">>;
};

/** Reads of the object store on the bus: cheap, and at least as new as what woke the function. */
export interface Reads {
  /** One object by name, in the reconciled object's namespace unless another one is given. */
  get<T extends KubeObject>(kind: Kind<T>, name: string, namespace?: string): Promise<Stored<T> | undefined>;
  /**
   * The objects of a kind that the reconciled object controls (by uid, not by name), or another one of its namespace, in no
   * order.
   */
  children<T extends KubeObject>(kind: Kind<T>, owner?: Stored): Promise<Stored<T>[]>;
  /** All objects of a kind in the reconciled object's namespace, or in another one, in no order. */
  list<T extends KubeObject>(kind: Kind<T>, namespace?: string): Promise<Stored<T>[]>;
  /** Looks up objects of the function's kind by one of its indexes. */
  readonly find: Find;
}

/** What a reconcile has to work with. Every write throws when this worker no longer owns the object. */
export interface Context {
  readonly key: ObjectKey;
  /** What woke the function. A hint for logs: reconcile from state, never from the cause. */
  readonly cause: Cause;
  /** All that woke it: the cause, and what came while the object was in other hands. A hint as well. */
  readonly causes: readonly Cause[];
  /** Failed attempts before this one. */
  readonly attempt: number;
  /** The name of this worker replica. */
  readonly replica: string;
  /** The cluster's name on the bus: `DENREI_CLUSTER`, or `default`. */
  readonly cluster: string;
  /** Aborts when ownership is lost, the time is up, or the worker shuts down. Pass it on to what waits. */
  readonly signal: AbortSignal;
  /** Throws when this worker no longer owns the object. Call it right before an effect outside Kubernetes. */
  assertOwned(): void;
  /** Carries function, key, attempt and trace id. */
  readonly log: Logger;
  /**
   * The time by the clock of the bus, which all replicas share: milliseconds since the epoch. Use it in place of `Date.now()`
   * for every time that is written down or compared with one that was.
   */
  now(): number;
  readonly read: Reads;
  /** Reads of the API server, for when staleness would hurt. */
  readonly live: {
    get<T extends KubeObject>(
      kind: Kind<T>,
      name: string,
      namespace?: string,
    ): Promise<Stored<T> | undefined>;
    /** All objects of a kind in a namespace, the reconciled object's unless given. Needs a permission for `list`. */
    list<T extends KubeObject>(kind: Kind<T>, namespace?: string): Promise<readonly Stored<T>[]>;
    /** Looks up a kind that the API server serves, in this version or else in the preferred one. */
    kind(apiVersion: string, kind: string): Promise<Kind | undefined>;
    /**
     * The last lines of a container's log. Undefined where there is none: the pod is gone, or was never on a node. Needs a
     * permission for `pods/log`.
     */
    podLog(
      pod: string,
      options: { readonly container: string; readonly lines: number },
    ): Promise<string | undefined>;
  };
  /**
   * Creates a child under a deterministic name. A child of that name that this object already controls is returned as
   * it is; one that it does not control throws a {@link BlockedError} with the reason `NameTaken`.
   */
  create<T extends KubeObject>(kind: Kind<T>, child: NewChild<T>): Promise<Stored<T>>;
  /** JSON merge patch on the version in hand; no call when it changes nothing. Throws a conflict when it is stale. */
  patch<T extends KubeObject>(kind: Kind<T>, object: Stored<T>, patch: object): Promise<Stored<T>>;
  /**
   * Server-side apply of a child with this function's field manager: what was applied once and is not wanted any more goes,
   * what others have added stays. No call when it is as wanted. If the child has changed since it was read, the apply is
   * made on the newer version, and the reconcile runs again afterwards. One of that name that this object does not control
   * throws a {@link BlockedError} with the reason `NameTaken`, unless it has no controller and has the given uid: that of a
   * child that has lost its owner reference.
   */
  apply<T extends KubeObject>(
    kind: Kind<T>,
    child: NewChild<T>,
    options?: { readonly uid?: string | undefined },
  ): Promise<Stored<T>>;
  /** The same for some fields of an object that is no child: all that this function ever sets of it. Conflicts when it is gone. */
  applyFields<T extends KubeObject>(kind: Kind<T>, object: Stored<T>, fields: object): Promise<Stored<T>>;
  /**
   * Deletes exactly this object (by uid). One that is gone already is fine. With `Foreground` it stays until what it owns is
   * gone.
   */
  delete(kind: Kind, object: Stored, options?: { readonly propagation?: "Foreground" }): Promise<void>;
  /** Writes status fields and conditions of the reconciled kind; no call when nothing changes. */
  status<T extends KubeObject>(
    kind: Kind<T>,
    object: Stored<T>,
    status: Partial<NonNullable<T["status"]>>,
    conditions?: readonly ConditionUpdate[],
  ): Promise<Stored<T>>;
  /** Records a Kubernetes Event about the reconciled object; the same event within an hour is recorded once. */
  event(type: "Normal" | "Warning", reason: string, note: string): void;
}

/** Names what is to be reconciled. */
export type Keys = readonly ObjectKey[] | Promise<readonly ObjectKey[]>;

/** Wakes a function for objects that it does not own. Runs in every replica: pure, but for reads. */
export interface Watch<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  /** `find` looks up objects of the function's kind by one of its indexes. */
  keys(object: Stored<T>, find: Find): Keys;
  /** Wakes no more than so many a second: for an object that many others depend on. Without it, all at once. */
  readonly perSecond?: number;
}

/** Wakes a function with webhooks, by event. Runs in every replica: pure, but for reads. */
export type Webhooks = {
  readonly [E in WebhookEventName]?: (webhook: Webhook<E>, find: Find) => Keys;
};

/** A rule of a Role or ClusterRole (`rbac.authorization.k8s.io/v1`). */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** What a function speaks to beside the API server and the bus. In a cluster with network policies it can reach nothing else. */
export interface Outbound {
  /** GitHub, wherever it is: port 443 of any public address. */
  readonly github?: true;
  /** These TCP ports of pods, in any namespace. */
  readonly podPorts?: readonly number[];
}

/** What an author writes. */
export interface FunctionOptions<T extends KubeObject> {
  /** A DNS label of at most 40 characters. Names the stream, the consumers and the Deployment. */
  readonly name: string;
  /** What its writes are known by in `managedFields`. Default: `denrei.dev/` and its name. */
  readonly fieldManager?: string;
  /** The kind that is reconciled. */
  readonly for: Kind<T>;
  /**
   * Another function reconciles the same objects, and speaks for them: what goes wrong with this one is in its logs and dead
   * letters, and in no condition but those that it writes itself.
   */
  readonly secondary?: true;
  /** Kinds of children: a change of one wakes its controller. */
  readonly owns?: readonly Kind[];
  /** Further kinds of children, which the installation lists. None of its roles are generated. */
  readonly ownsListed?: ListedKinds;
  readonly watches?: readonly Watch[];
  /**
   * What objects are found by, beside their names: the values of each in an index, by the index's name. Give an index another
   * name when it has other values than before: with a new name all objects are looked at again.
   */
  readonly indexes?: Readonly<Record<string, (object: Stored<T>) => readonly string[]>>;
  /** Webhooks of GitHub that wake it. */
  readonly webhooks?: Webhooks;
  /** Reconciles at once in one worker process. Default 10. */
  readonly concurrency?: number;
  /** How long one reconcile may take, in milliseconds, before it is aborted and retried. Default 60,000. */
  readonly timeoutMillis?: number;
  /**
   * Every object is reconciled at least this often, in milliseconds, whatever becomes of events and timers. Without it, only
   * when something wakes it.
   */
  readonly sweepMillis?: number;
  /** How much memory its worker may take in a cluster, in MiB. Default 512. */
  readonly memoryMebibytes?: number;
  /** Rights beyond those that follow from the declaration, in the whole cluster. Secrets can not be among them. */
  readonly permissions?: readonly PolicyRule[];
  /** Whom it speaks to beside the API server and the bus. Nobody unless given. */
  readonly outbound?: Outbound;
  /** Brings the world to what the object says. Level-triggered and idempotent: it may run at any time, twice. */
  reconcile(object: Stored<T>, ctx: Context): Promise<Result | undefined>;
  /**
   * Annotations that this function reads of Secrets, ConfigMaps, and other kinds of which only the metadata is published.
   * All others stay off the bus, because tools keep copies of the content in them.
   */
  readonly annotations?: readonly string[];
  /** Undoes what is outside Kubernetes. With it the platform keeps a finalizer on the object, from before the first reconcile. */
  finalize?(object: Stored<T>, ctx: Context): Promise<Result | undefined>;
}

/** A function with its defaults filled in. The object type is checked where it is defined. */
export interface ReconcileFunction
  extends Omit<
    FunctionOptions<KubeObject>,
    "owns" | "watches" | "indexes" | "webhooks" | "permissions" | "outbound"
  > {
  readonly fieldManager: string;
  readonly owns: readonly Kind[];
  readonly watches: readonly Watch[];
  readonly indexes: Readonly<Record<string, IndexValues>>;
  readonly webhooks: Webhooks;
  readonly permissions: readonly PolicyRule[];
  readonly outbound: Outbound;
  readonly annotations: readonly string[];
  readonly concurrency: number;
  readonly timeoutMillis: number;
  readonly memoryMebibytes: number;
  /** The finalizer, if there is a `finalize`. */
  readonly finalizer: string | undefined;
}

/** Users of the bus, accounts and Secrets that are no function's, but are named like one's. */
const reservedNames = ["admin", "backup", "bridge", "ca", "gateway", "nats", "operator", "restore", "worker"];

/**
 * Declares a function.
 *
 * @example
 * export default defineFunction({
 *   name: "hikawa", for: Hikawa, owns: [Zundoko, Kiyoshi],
 *   async reconcile(hikawa, ctx) { …; return { requeueAfter: 500 }; },
 * });
 */
export function defineFunction<T extends KubeObject>(options: FunctionOptions<T>): ReconcileFunction {
  if (!functionNamePattern.test(options.name)) {
    throw new TypeError(
      `expected a function name of lower-case letters, digits and dashes (at most 40, a letter first), found "${options.name}"`,
    );
  }
  if (reservedNames.includes(options.name) || options.name.endsWith(optedInRole(""))) {
    throw new TypeError(
      `expected a function name other than "${options.name}": accounts and users of the platform's own have it`,
    );
  }
  if (options.permissions?.some(coversSecrets)) {
    throw new TypeError(
      `expected permissions of "${options.name}" that do not cover Secrets, which are granted in opted-in namespaces alone: ` +
        "name Secret among what it owns or watches",
    );
  }
  const definition: FunctionOptions<T> = options;
  const defined: ReconcileFunction = {
    ...(definition as unknown as FunctionOptions<KubeObject>),
    fieldManager: options.fieldManager ?? `${domain}/${options.name}`,
    owns: options.owns ?? [],
    watches: options.watches ?? [],
    indexes: (options.indexes ?? {}) as Readonly<Record<string, IndexValues>>,
    webhooks: options.webhooks ?? {},
    permissions: options.permissions ?? [],
    outbound: options.outbound ?? {},
    annotations: options.annotations ?? [],
    concurrency: options.concurrency ?? 10,
    timeoutMillis: options.timeoutMillis ?? 60_000,
    memoryMebibytes: options.memoryMebibytes ?? 512,
    finalizer: options.finalize ? `${domain}/${options.name}` : undefined,
  };
  // Throws where two definitions of a kind are mixed up.
  definedKinds([defined]);
  return defined;
}

const coversSecrets = ({ apiGroups, resources }: PolicyRule): boolean =>
  apiGroups.some((group) => ["", "*"].includes(group)) &&
  resources.some((resource) => ["secrets", "*"].includes(resource));

/** Streams and consumers that functions need in a cluster. */
export const interestsOf = (functions: readonly ReconcileFunction[], cluster: string): Interest[] =>
  functions.map((fn) => interestOf(fn, cluster));

/** What wakes one function. */
export const interestOf = (fn: ReconcileFunction, cluster: string): Interest => ({
  scope: { fn: fn.name, cluster },
  kinds: kindsOf(fn),
  ...(fn.ownsListed && { ownsListed: true }),
  webhooks: Object.keys(fn.webhooks).map((event) => ({ provider: "github", event })),
  indexes: Object.keys(fn.indexes),
});

const namedKinds = (fn: ReconcileFunction): Kind[] => [
  fn.for,
  ...fn.owns,
  ...fn.watches.map((watch) => watch.kind),
];

/**
 * Kinds that are defined by `defineKind` and that functions name, each once: those with a CRD of ours. Throws a `TypeError` where one
 * kind has two definitions that differ in anything, such as version, writers or refinements: one of them would be dropped.
 */
export function definedKinds(functions: readonly ReconcileFunction[]): Kind[] {
  const found = new Map<string, { readonly kind: Kind; readonly fn: string }>();
  const defined = functions.flatMap((fn) =>
    namedKinds(fn).flatMap((kind) => (kind.definition === undefined ? [] : [{ kind, fn: fn.name }])),
  );
  for (const one of defined)
    for (const name of [kindText(one.kind), `${one.kind.plural}.${one.kind.group}`]) {
      const other = found.get(name);
      if (other === undefined) found.set(name, one);
      else if (!haveSameDefinition(other.kind, one.kind))
        throw new TypeError(
          `found two different definitions of ${name}, ${versionText(other)} and ${versionText(one)}: ` +
            "define it once and import it (copies of a refinement count as different), " +
            "or declare the kind of others by externalKind",
        );
    }
  return [...new Set([...found.values()].map(({ kind }) => kind))];
}

const versionText = ({ kind, fn }: { readonly kind: Kind; readonly fn: string }): string =>
  `${kind.kind} ${kind.version} in the function ${fn}`;

/** Every kind that a function needs on the bus. */
export function kindsOf(fn: ReconcileFunction): Kind[] {
  const kinds = namedKinds(fn);
  return kinds.filter(
    (kind, at) => kinds.findIndex((other) => other.kind === kind.kind && other.group === kind.group) === at,
  );
}

/** All that a bridge needs to serve functions. Throws a `TypeError` where a kind has two definitions. */
export const bridgeNeeds = (functions: readonly ReconcileFunction[], cluster: string) => {
  definedKinds(functions);
  const kinds = functions.flatMap(kindsOf);
  return {
    kinds: kinds.filter((kind, at) => kinds.indexOf(kind) === at),
    lists: functions.flatMap(listOf),
    annotations: new Set(functions.flatMap(({ annotations }) => annotations)),
    interests: interestsOf(functions, cluster),
  };
};
