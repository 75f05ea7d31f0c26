/** Publishes that the bus does not store, because of a full disk, a missing leader, or a limit. They are retried forever, and reported. */
import { JetStreamApiError } from "@nats-io/jetstream";

/** The publishes that are being retried. */
export interface PublishBacklog {
  /** A publish failed and is retried. The same `publish` may fail several times. */
  failed(publish: object, error: Error): void;
  /** The publish was answered or abandoned. */
  over(publish: object): void;
  /** Why the bus has not stored something for some seconds; undefined while it stores everything. */
  reason(): string | undefined;
}

/** Longer than a leader election, which is not worth a report. Milliseconds. */
const reportAfterMillis = 5000;

/**
 * Appended to the error. A server with a full disk does not answer its clients. It keeps a write error of a stream until
 * it restarts, even after space was freed (seen with nats-server 2.15.2).
 */
const storeHint =
  "Check the NATS servers' logs, their free disk space, and JetStream's limits. Publishing resumes when there is space; " +
  'restart a server that has logged "no space left on device".';

/** Formats the error of a bus that rejects messages or does not answer. */
export const notStored = (error: Error): string =>
  `the bus does not store messages: ${error.message}. ${storeHint}`;

/** The bus answered that it cannot store anything at the moment. */
export const isNotStored = (error: unknown): error is JetStreamApiError =>
  error instanceof JetStreamApiError && error.status >= 500;

/** Opens an empty backlog. */
export function openPublishBacklog(): PublishBacklog {
  const publishes = new Map<object, { readonly since: number; error: Error }>();
  return {
    failed(publish, error) {
      const entry = publishes.get(publish);
      if (entry) entry.error = error;
      else publishes.set(publish, { since: performance.now(), error });
    },
    over: (publish) => void publishes.delete(publish),
    reason() {
      const now = performance.now();
      const overdue = [...publishes.values()].find(({ since }) => now - since > reportAfterMillis);
      return overdue && notStored(overdue.error);
    },
  };
}
