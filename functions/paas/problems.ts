/** What keeps an object of the PaaS from being ready, as its owner reads it. */

/** Somebody has to change something, and the change wakes us; the retry is for what we are not told of. Milliseconds. */
export const patience = 300_000;
