/** What a reconcile may throw to say more than "try again". */

/**
 * Trying again will not help until the object changes: the object gets a condition with this reason, the request
 * becomes a dead letter, and nothing is retried. `reason` is one CamelCase word.
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
 * Somebody else has to act first, and their action wakes nobody: the object gets a condition with this reason at
 * once, and the reconcile is tried again at the given pace.
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

/** This worker no longer owns the object: another may be reconciling it, so nothing may be written. */
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

/** Reason of a {@link TerminalError}: workers died over the object. */
export const workerCrashed = "WorkerCrashed";

/** What an error is called in traces: one of few words, and nothing of what it says. */
export const failureOf = (error: Error): string =>
  error instanceof TerminalError || error instanceof BlockedError ? error.reason : error.name;
