/** Fixed settings of the measurements, which the report names. */

/** How long writes are counted. A watch lasts a minute, and its bookmarks move the position. */
export const quietMillis = 120_000;

/** The interval of paced events: far below what the bus takes, so that no event waits for another. */
export const paceMillis = 100;

/** Processes that share the replicas. All make requests, also those without a replica, so that only the replicas differ. */
export const hostCount = 3;

/** How long idle replicas are measured. Pull requests expire after 2 s, and replicas search for stranded messages every 8 s. */
export const idleMillis = 60_000;
