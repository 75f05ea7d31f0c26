/** The causal history in the server's bus API, as types. */
import type { ObjectName, ReconcileEntry, WebhookEntry } from "./bus.ts";

/**
 * `GET /api/bus/causality?entry=&namespace=`: the history that an entry of {@link History} belongs to, from its origin on. `entry` is
 * the id of a reconcile or a webhook. Needs `activity` list in the namespace, or cluster-wide if none is given; reconciles of
 * other namespaces are missing. 404 if the entry is not kept anymore.
 */
export interface CausalHistory {
  readonly origin: CausalOrigin;
  readonly threads: readonly CausalThread[];
  /** The run before the one that the origin triggered, of the same function for the same object. Null if it is not known. */
  readonly before: ReconcileEntry | null;
  /** Number of further reconciles that followed. */
  readonly omitted: number;
  /** The search ended before it read all older records: the origin may have a cause. */
  readonly isOriginOpen: boolean;
  /** The search ended here, and reconciles that ended later are missing. Null if it read all. */
  readonly until: string | null;
}

/** What a history began with. */
export type CausalOrigin =
  | WebhookEntry
  /** A webhook that is not kept anymore. */
  | {
      readonly type: "delivery";
      readonly provider: string;
      readonly event: string;
      readonly delivery: string;
    }
  /** An object was changed by a user or by another program. */
  | { readonly type: "change"; readonly object: ObjectName; readonly resourceVersion: string }
  /** A timer or a replay whose earlier run is not known. */
  | { readonly type: "timer" | "replay" }
  | { readonly type: "unknown" };

/** Runs of one function for one object, from one cause on. */
export interface CausalThread {
  /** Null below the origin. */
  readonly link: CausalLink | null;
  /** Oldest first. Runs after the first one are its retries and timers. */
  readonly runs: readonly CausalRun[];
}

/** How a thread follows from a reconcile. */
export interface CausalLink {
  /** `outside`: another program changed the object soon after the write. This follows from the order only. */
  readonly type: "write" | "outside";
  /** Index in the `writes` of the reconcile. */
  readonly write: number;
  /** The version that triggered the thread, for `outside`. */
  readonly resourceVersion: string | null;
}

/** A step of a thread. */
export type CausalRun = ReconcileRun | QuietRuns;

/** A reconcile with what followed from it. */
export interface ReconcileRun {
  readonly type: "reconcile";
  readonly entry: ReconcileEntry;
  readonly threads: readonly CausalThread[];
}

/** Successive runs of a timer that changed nothing. */
export interface QuietRuns {
  readonly type: "quiet";
  readonly function: string;
  readonly object: ObjectName;
  /** Ids of their entries. */
  readonly ids: readonly string[];
  /** Starts of the first and of the last one. */
  readonly from: string;
  readonly to: string;
}
