/** A clock that all processes of the machine share. */

/** Milliseconds of the machine's monotonic clock. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;
