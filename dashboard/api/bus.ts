/**
 * The server's bus API, as types. Types only: the page imports no code of the server.
 *
 * Times are RFC 3339 unless documented otherwise. Unknown values are null. The namespace of a cluster-scoped object is the empty
 * string, and `-` in a path. Without the necessary right a request gets a 403 with the reason `Forbidden`; its message names the right.
 */

/** A kind without its version. */
export interface KindName {
  readonly group: string;
  readonly kind: string;
}

/** An object by name. */
export interface ObjectName extends KindName {
  readonly namespace: string;
  readonly name: string;
}

/** `GET /api/bus/rights?namespace=`: the user's rights in the namespace, or in the whole cluster if none is given. */
export interface BusRights {
  /** Figures and charts: `functions` get, always cluster-wide. */
  readonly functions: boolean;
  /** History, and in-flight reconciles: `activity` list. */
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

/** A function's queue. Counts objects, except `events`. A count is null if the function has never run on this bus. */
export interface FunctionFigures {
  readonly function: string;
  /** The kind that it reconciles. */
  readonly for: KindName;
  /** Events, webhooks, and due requests that no worker has processed yet. */
  readonly events: number | null;
  /** Waiting for a free worker. */
  readonly pending: number | null;
  /** Changed while they were being reconciled. */
  readonly parked: number | null;
  readonly inFlight: number | null;
  /** Waiting for a delay or a retry. */
  readonly delayed: number | null;
  /** The part of `delayed` that failed and will be retried. Null also if there are too many to inspect. */
  readonly retrying: number | null;
  readonly deadLetters: number | null;
}

/** A kind on the bus. */
export interface KindFigures {
  /** As in {@link LiveSample.events}: `Kind` or `Kind.group`. */
  readonly kind: string;
  /** One per watched namespace, or one for all; empty if no bridge has ever watched the kind. */
  readonly bridges: readonly BridgePosition[];
}

/** The progress of a bridge on a kind. */
export interface BridgePosition {
  /** Null if it watches all namespaces. */
  readonly namespace: string | null;
  readonly objects: number;
  readonly holder: string;
  readonly state: string;
  /** The last version that it has published. */
  readonly resourceVersion: string;
  readonly time: string;
}

/**
 * `GET /api/bus/live`, server-sent events. Needs `functions` get. First `past` ({@link LivePast}), then `sample`
 * ({@link LiveSample}) once a second. A stream ends when its token expires; a client that reconnects gets `past` again.
 */
export interface LivePast {
  /** Percentiles cover the reconciles that ended within this many seconds. */
  readonly windowSeconds: number;
  /** Up to 15 minutes, oldest first. Seconds in which the server was down are missing. */
  readonly samples: readonly LiveSample[];
}

/** One second. */
export interface LiveSample {
  /** End of the second, in whole seconds since the epoch. */
  readonly at: number;
  /** Events of the watched kinds, by `Kind` or `Kind.group`. Kinds without events are omitted. */
  readonly events: Readonly<Record<string, number>>;
  /** By function. Functions without a reconcile in the window are omitted. */
  readonly functions: Readonly<Record<string, FunctionSample>>;
}

/** A function in one second. */
export interface FunctionSample {
  /** Reconciles that ended in this second, with any outcome. */
  readonly reconciles: number;
  /** The part of `reconciles` that failed or was dead-lettered. */
  readonly errors: number;
  /** From the event to the start of the reconcile. Milliseconds, over the window. */
  readonly waited: Spread;
  /** From the start of the reconcile to its end. Milliseconds, over the window. */
  readonly took: Spread;
  /** From the event to the end of the reconcile. Milliseconds, over the window. */
  readonly total: Spread;
}

/** Percentiles. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
}

/** `GET /api/bus/working?namespace=`. Needs `activity` list in the namespace, or cluster-wide if none is given. */
export interface Working {
  /** Workers that answered, by name, idle ones included. */
  readonly replicas: readonly WorkingReplica[];
}

/** A worker. */
export interface WorkingReplica {
  readonly replica: string;
  readonly functions: readonly string[];
  /** Longest-running first. Capped at the number that a worker reports. */
  readonly inFlight: readonly InFlightReconcile[];
}

/** A reconcile in flight. */
export interface InFlightReconcile {
  readonly function: string;
  readonly object: ObjectName;
  readonly since: string;
  /** Failed attempts before this one. */
  readonly attempt: number;
  readonly trace: string | null;
}

/** The cause of a reconcile. */
export type ReconcileCause =
  | { readonly type: "object"; readonly object: ObjectName; readonly resourceVersion: string }
  | {
      readonly type: "webhook";
      readonly provider: string;
      readonly event: string;
      readonly delivery: string;
    }
  | { readonly type: "timer" }
  | { readonly type: "replay" };

/** `GET /api/bus/deadletters?namespace=&function=`. Needs `deadletters` list in the namespace, or cluster-wide if none is given. */
export interface DeadLetterList {
  /** Newest first. */
  readonly items: readonly DeadLetterItem[];
}

/** A dead-lettered request. */
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
  readonly cause: ReconcileCause;
  readonly trace: string | null;
  /** Whether the user may replay it. */
  readonly mayReplay: boolean;
}

/** `GET /api/bus/deadletters/:function/:namespace/:name`. Needs `deadletters` list in the namespace. 404 if it does not exist. */
export interface DeadLetterDetail extends DeadLetterItem {
  readonly stack: string | null;
}

/**
 * `POST /api/bus/deadletters/:function/:namespace/:name/replay`, without a body. Needs `deadletters/replay` create in the namespace.
 * 404 if it does not exist. The response means that the reconcile is enqueued, not that it has run.
 */
export interface Replayed {
  readonly replayed: true;
}

/**
 * `GET /api/bus/history?group=&kind=&namespace=&name=&before=`: the history of an object. Needs `activity` list in its namespace.
 * Includes dead letters only with `deadletters` list, and Kubernetes Events only if Kubernetes lets the user list them.
 *
 * `GET /api/bus/history?trace=&namespace=&before=`: the history of a trace. Needs `activity` list in the namespace, or cluster-wide
 * if none is given. A trace is 32 hexadecimal digits, or a whole `traceparent`.
 */
export interface History {
  /** The newest page, or the one before the cursor. Oldest trace first, by its first entry. */
  readonly traces: readonly HistoryTrace[];
  /**
   * Cursor of the next older page, to be sent as `before`. That page may be empty: a request searches for two seconds at most.
   * Null if everything that is retained (one day) was searched.
   */
  readonly before: string | null;
}

/** The entries with one trace ID. */
export interface HistoryTrace {
  /** Null for entries without one: Kubernetes Events, and records from before tracing. */
  readonly trace: string | null;
  /** Oldest first. */
  readonly entries: readonly HistoryEntry[];
}

/** A history entry. `id` is unique within a response and stable between responses. */
export type HistoryEntry = WebhookEntry | ReconcileEntry | DeadLetterEntry | EventEntry;

/** A received webhook. */
export interface WebhookEntry {
  readonly type: "webhook";
  readonly id: string;
  readonly at: string;
  /** The sender: `github`. */
  readonly provider: string;
  /** As the sender names it: `pull_request`. */
  readonly event: string;
  /** Including the action: `com.github.pull_request.opened`. */
  readonly eventType: string;
  readonly delivery: string;
  /** `owner/repository`, or the owner alone. */
  readonly repository: string;
  /** A ref, or the number of a pull request. */
  readonly subject: string;
}

/** Outcome of a reconcile. */
export type ReconcileOutcome =
  /** Nothing left to do. */
  | "success"
  /** Requested another run after a delay. */
  | "requeue_after"
  /** Failed, will be retried. */
  | "retry"
  /** Failed, dead-lettered. */
  | "dead_lettered"
  /** Triggered by its own writes, and throttled. */
  | "slowed_down"
  /** The worker was shutting down, so another one takes it. */
  | "handed_back"
  /** The worker lost ownership of the object before the end. */
  | "lost";

/** A finished reconcile. */
export interface ReconcileEntry {
  readonly type: "reconcile";
  readonly id: string;
  /** Start of the reconcile. */
  readonly at: string;
  readonly function: string;
  readonly object: ObjectName;
  readonly replica: string;
  /** The first one triggered the reconcile. */
  readonly causes: readonly ReconcileCause[];
  /** Number of further causes that were not recorded. */
  readonly moreCauses: number;
  /** Failed attempts before this one. */
  readonly attempt: number;
  /** From the event to the start of the reconcile. */
  readonly waitedMillis: number;
  readonly tookMillis: number;
  readonly outcome: ReconcileOutcome;
  /** Delay until the next run, for `requeue_after`, `retry`, and `slowed_down`. */
  readonly nextInMillis: number | null;
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly writes: readonly ReconcileWrite[];
  /** Number of further writes that were not recorded. */
  readonly moreWrites: number;
}

/** A write to the API server. */
export interface ReconcileWrite {
  readonly verb: "create" | "patch" | "apply" | "delete" | "status";
  readonly object: ObjectName;
  /** The version that it created, or for a deletion the version that was deleted. */
  readonly resourceVersion: string;
}

/** A dead letter that still exists. */
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

/** A Kubernetes Event about the object. */
export interface EventEntry {
  readonly type: "event";
  readonly id: string;
  /** Time of the last occurrence. */
  readonly at: string;
  readonly severity: "Normal" | "Warning";
  readonly reason: string;
  readonly note: string;
  /** Number of occurrences. */
  readonly count: number;
  /** The reporting component: `denrei.dev/hikawa`, `kubelet`. */
  readonly reporter: string;
}
