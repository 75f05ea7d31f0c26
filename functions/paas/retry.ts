/** Retry interval of errors that users have to fix. */

/** The fix itself causes a reconcile. The retry covers changes that no watch reports. Milliseconds. */
export const retryMillis = 300_000;
