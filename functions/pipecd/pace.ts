/** Somebody has to change something, and the change wakes us; the retry is for what we are not told of. Milliseconds. */
export const patience = 300_000;

/** Remote things are looked at again when so much time has passed: nobody tells when they change. Milliseconds. */
export const driftMillis = 480_000;
