/** Errors with a meaning of their own when a reconcile ends with them. Any other error is retried with backoff. */

/**
 * A retry will not help until the object changes: the object gets a condition with this reason, and the request becomes a dead
 * letter. `reason` is one CamelCase word.
 *
 * @example
 * ```ts
 * throw new TerminalError("InvalidSchedule", `spec.schedule is not a cron expression: "${schedule}"`);
 * ```
 */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
  readonly reason: string;
  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * The reconcile waits for an action elsewhere that causes no event: the object gets a condition with this reason at once, and
 * the reconcile is retried at the given interval.
 *
 * @example
 * ```ts
 * throw new BlockedError("DatabaseNotReady", `the database ${name} does not answer`, 30_000);
 * ```
 */
export class BlockedError extends Error {
  override readonly name = "BlockedError";
  readonly reason: string;
  /** Milliseconds. */
  readonly retryAfterMillis: number;
  constructor(reason: string, message: string, retryAfterMillis = 5_000, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.retryAfterMillis = retryAfterMillis;
  }
}

/** This worker no longer owns the object: another worker may be reconciling it, so this one must not write. */
export class OwnershipLostError extends Error {
  override readonly name = "OwnershipLostError";
}

/** The reconcile took longer than its function allows. */
export class ReconcileTimeoutError extends Error {
  override readonly name = "ReconcileTimeoutError";
}

/** The worker is shutting down; the request is handed to another one. */
export class ShutdownError extends Error {
  override readonly name = "ShutdownError";
}

/** Reason of a {@link TerminalError}: the object crashed its workers. */
export const workerCrashed = "WorkerCrashed";

/** The name of an error in traces and lists: its reason or its class, without the message. */
export const failureOf = (error: Error): string =>
  error instanceof TerminalError || error instanceof BlockedError ? error.reason : error.name;
