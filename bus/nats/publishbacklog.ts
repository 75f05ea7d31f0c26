/** Publishes that the bus does not take: a full disk, no leader, a limit. They are retried for ever, and somebody has to know. */
import { JetStreamApiError } from "@nats-io/jetstream";

/** What is being retried. */
export interface Stuck {
  /** A publish has failed and is tried again; the same `publish` may fail again and again. */
  failed(publish: object, error: Error): void;
  /** It was answered, or nobody waits for it any more. */
  over(publish: object): void;
  /** Why the bus has not stored something for some seconds; undefined while it does. */
  reason(): string | undefined;
}

/** A leader election takes less: until then nobody need know. Milliseconds. */
const patienceMillis = 5000;

/**
 * What to do about it. A server whose disk is full does not say so to its clients, it does not answer; and it keeps a write
 * error of a stream until it is started again, also when there is room (seen with nats-server 2.15.2).
 */
const storeHint =
  "Look at the NATS servers' logs, the room on their disks, and JetStream's limits. When there is room it goes on by " +
  'itself; a server that has logged "no space left on device" has to be restarted as well.';

/** Says that the bus has refused to store something, or has not answered. */
export const notStored = (error: Error): string =>
  `the bus does not store what is published: ${error.message}. ${storeHint}`;

/** The bus answers that it can not store anything at the moment. */
export const isNotStored = (error: unknown): error is JetStreamApiError =>
  error instanceof JetStreamApiError && error.status >= 500;

/** Nothing is stuck yet. */
export function openStuck(): Stuck {
  const publishes = new Map<object, { readonly since: number; error: Error }>();
  return {
    failed(publish, error) {
      const known = publishes.get(publish);
      if (known) known.error = error;
      else publishes.set(publish, { since: performance.now(), error });
    },
    over: (publish) => void publishes.delete(publish),
    reason() {
      const now = performance.now();
      const long = [...publishes.values()].find(({ since }) => now - since > patienceMillis);
      return long && notStored(long.error);
    },
  };
}
