/** Retry interval of an object that waits for the user. A change triggers a reconcile; the retry covers changes without events. Milliseconds. */
export const retryMillis = 300_000;

/** Poll interval for the state at PipeCD, which reports no changes. Milliseconds. */
export const syncMillis = 480_000;
