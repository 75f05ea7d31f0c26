/**
 * What the server tells the page of the bus. Types only: the page imports nothing of the server's.
 *
 * Times are RFC 3339, unless they say so. What is not known is null. Namespaces are empty for cluster-scoped objects, in a path
 * `-` stands for that. Who may not see something gets a 403 with the reason `Forbidden`; its message says which right is missing.
 */

/** A kind, without its version. */
export interface KindName {
  readonly group: string;
  readonly kind: string;
}

/** An object by name. */
export interface ObjectName extends KindName {
  readonly namespace: string;
  readonly name: string;
}

/** `GET /api/bus/rights?namespace=`: what whoever is logged in may see and do there; everywhere, where no namespace is given. */
export interface BusRights {
  /** Figures and charts: `functions` get, cluster-wide whatever the namespace. */
  readonly functions: boolean;
  /** History, and who works on what: `activity` list. */
  readonly activity: boolean;
  /** `deadletters` list. */
  readonly deadLetters: boolean;
  /** `deadletters/replay` create. */
  readonly replay: boolean;
}

/** `GET /api/bus/figures`. Needs `functions` get. */
export interface BusFigures {
  readonly cluster: string;
  readonly functions: readonly FunctionFigures[];
  readonly kinds: readonly KindFigures[];
}

/** A function's queue. Counts of objects, but for `events`; null where the function never ran on this bus. */
export interface FunctionFigures {
  readonly function: string;
  /** What its requests are about. */
  readonly for: KindName;
  /** Events, webhooks and due requests that no worker has looked at yet. */
  readonly events: number | null;
  /** Wait for a free worker. */
  readonly pending: number | null;
  /** Changed while they were reconciled. */
  readonly parked: number | null;
  readonly inFlight: number | null;
  /** Wait for their time, whatever for. */
  readonly delayed: number | null;
  /** Of those, the ones that failed and are tried again. Null also where there are too many to look. */
  readonly retrying: number | null;
  readonly deadLetters: number | null;
}

/** A kind on the bus. */
export interface KindFigures {
  /** As in {@link LiveSample.events}: `Kind`, or `Kind.group`. */
  readonly kind: string;
  /** One per watched namespace, or one for all of them; empty when no bridge ever watched it. */
  readonly bridges: readonly BridgePosition[];
}

/** Where a bridge is with a kind. */
export interface BridgePosition {
  /** Null when it watches all. */
  readonly namespace: string | null;
  readonly objects: number;
  readonly holder: string;
  readonly state: string;
  /** Up to which it has published. */
  readonly resourceVersion: string;
  readonly time: string;
}

/**
 * `GET /api/bus/live`, server-sent events. Needs `functions` get. First `past` ({@link LivePast}), then `sample`
 * ({@link LiveSample}) once a second. A stream ends with its token; whoever comes back gets `past` anew.
 */
export interface LivePast {
  /** Percentiles are of what ended within so many seconds. */
  readonly windowSeconds: number;
  /** Those of up to 15 minutes, the oldest first; a second in which the server did not run has none. */
  readonly samples: readonly LiveSample[];
}

/** One second. */
export interface LiveSample {
  /** When it ended: whole seconds since the epoch. */
  readonly at: number;
  /** Events of the watched kinds, by `Kind` or `Kind.group`. A kind without any is left out. */
  readonly events: Readonly<Record<string, number>>;
  /** By function. One without any reconcile within the window is left out. */
  readonly functions: Readonly<Record<string, FunctionSample>>;
}

/** A function in one second. */
export interface FunctionSample {
  /** That ended in this second, however they ended. */
  readonly reconciles: number;
  /** Of those, the ones that failed or were given up. */
  readonly errors: number;
  /** From the event to the start of the reconcile. Milliseconds, of the window. */
  readonly waited: Spread;
  /** From the start of the reconcile to its end. Milliseconds, of the window. */
  readonly took: Spread;
  /** From the event to the end of the reconcile. Milliseconds, of the window. */
  readonly total: Spread;
}

/** Percentiles. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
}

/** `GET /api/bus/working?namespace=`. Needs `activity` list, there or everywhere. */
export interface Working {
  /** Workers that answered, by name. Those that have nothing in hand are there too. */
  readonly replicas: readonly WorkingReplica[];
}

/** A worker. */
export interface WorkingReplica {
  readonly replica: string;
  readonly functions: readonly string[];
  /** The longest under way first; at most so many as a worker tells of. */
  readonly inHand: readonly InHand[];
}

/** What a worker reconciles. */
export interface InHand {
  readonly function: string;
  readonly object: ObjectName;
  readonly since: string;
  /** Failed attempts before this one. */
  readonly attempt: number;
  readonly trace: string | null;
}

/** Why a reconcile was wanted. */
export type CauseOf =
  | { readonly type: "object"; readonly object: ObjectName; readonly resourceVersion: string }
  | { readonly type: "webhook"; readonly event: string; readonly delivery: string }
  | { readonly type: "timer" }
  | { readonly type: "replay" };

/** `GET /api/bus/deadletters?namespace=&function=`. Needs `deadletters` list, there or everywhere. */
export interface DeadLetterList {
  /** The newest first. */
  readonly items: readonly DeadLetterItem[];
}

/** A request that was given up. */
export interface DeadLetterItem {
  readonly function: string;
  readonly object: ObjectName;
  /** CamelCase word. */
  readonly reason: string;
  readonly message: string;
  /** Failed attempts. */
  readonly attempts: number;
  readonly time: string;
  readonly replica: string;
  readonly cause: CauseOf;
  readonly trace: string | null;
  /** Whether whoever is logged in may have it tried again. */
  readonly mayReplay: boolean;
}

/** `GET /api/bus/deadletters/:function/:namespace/:name`. Needs `deadletters` list there. 404 when there is none. */
export interface DeadLetterDetail extends DeadLetterItem {
  readonly stack: string | null;
}

/**
 * `POST /api/bus/deadletters/:function/:namespace/:name/replay`, without a body. Needs `deadletters/replay` create there. 404
 * when there is none. The reconcile is asked for, not done.
 */
export interface Replayed {
  readonly replayed: true;
}

/**
 * `GET /api/bus/history?group=&kind=&namespace=&name=&before=`: everything that happened to an object, with what it came of.
 * Needs `activity` list in its namespace; without `deadletters` list there are no letters, and without Kubernetes' own rights no
 * Events of Kubernetes.
 *
 * `GET /api/bus/history?trace=&namespace=&before=`: everything of a trace. Needs `activity` list in the namespace; without a
 * namespace, everywhere. A trace is 32 hexadecimal digits, or a whole `traceparent`.
 */
export interface History {
  /** The newest part, or what comes before the cursor: the oldest first, by the first entry of each. */
  readonly traces: readonly HistoryTrace[];
  /**
   * Give it back as `before` to see what was earlier, which may be nothing: an answer looks no further back than it can within two
   * seconds. Null when all that is kept (a day) was looked at.
   */
  readonly before: string | null;
}

/** What has one trace id. */
export interface HistoryTrace {
  /** Null for what has none: Events of Kubernetes, and what came before traces. */
  readonly trace: string | null;
  /** The oldest first. */
  readonly entries: readonly HistoryEntry[];
}

/** One thing that happened. `id` is its own within an answer, and the same in the next one. */
export type HistoryEntry = WebhookEntry | ReconcileEntry | DeadLetterEntry | EventEntry;

/** A webhook came. */
export interface WebhookEntry {
  readonly type: "webhook";
  readonly id: string;
  readonly at: string;
  /** As the sender calls it: `pull_request`. */
  readonly event: string;
  /** With its action: `com.github.pull_request.opened`. */
  readonly eventType: string;
  readonly delivery: string;
  /** `owner/repository`, or the owner alone. */
  readonly repository: string;
  /** A ref, or the number of a pull request. */
  readonly subject: string;
}

/** How a reconcile ended. */
export type ReconcileOutcome =
  /** Nothing more to do. */
  | "success"
  /** It wants to be called again after a time. */
  | "requeue_after"
  /** It failed, and is tried again. */
  | "retry"
  /** It failed, and is a dead letter. */
  | "dead_lettered"
  /** Its object is woken by what it writes, and goes on slowly. */
  | "slowed_down"
  /** The worker was shutting down: another one does it. */
  | "handed_back"
  /** Another worker may own the object by now. */
  | "lost";

/** A reconcile ended. */
export interface ReconcileEntry {
  readonly type: "reconcile";
  readonly id: string;
  /** When it began. */
  readonly at: string;
  readonly function: string;
  /** What it was about. */
  readonly object: ObjectName;
  readonly replica: string;
  /** The first is the one that asked for it. */
  readonly causes: readonly CauseOf[];
  /** Causes beyond those. */
  readonly moreCauses: number;
  /** Failed attempts before this one. */
  readonly attempt: number;
  /** From the event to its start. */
  readonly waitedMillis: number;
  readonly tookMillis: number;
  readonly outcome: ReconcileOutcome;
  /** Of `requeue_after`, `retry` and `slowed_down`: when it goes on. */
  readonly nextInMillis: number | null;
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly writes: readonly WriteOf[];
  /** Writes beyond those. */
  readonly moreWrites: number;
}

/** A write to the API server. */
export interface WriteOf {
  readonly verb: "create" | "patch" | "apply" | "delete" | "status";
  readonly object: ObjectName;
  /** The version that it made; of a deletion the one that was deleted. */
  readonly resourceVersion: string;
}

/** A request was given up, and still is. */
export interface DeadLetterEntry {
  readonly type: "deadletter";
  readonly id: string;
  readonly at: string;
  readonly function: string;
  readonly object: ObjectName;
  readonly reason: string;
  readonly message: string;
  readonly attempts: number;
  readonly mayReplay: boolean;
}

/** An Event of Kubernetes about the object. */
export interface EventEntry {
  readonly type: "event";
  readonly id: string;
  /** When it was last seen. */
  readonly at: string;
  readonly severity: "Normal" | "Warning";
  readonly reason: string;
  readonly note: string;
  /** How often it was seen. */
  readonly count: number;
  /** Who says so: `denrei.dev/hikawa`, `kubelet`. */
  readonly reporter: string;
}
