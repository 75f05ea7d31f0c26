/** Publishing that is retried until it is answered: a lost answer must never lose a request. */
import { setTimeout as sleep } from "node:timers/promises";
import type { PubAck } from "@nats-io/jetstream";
import { JetStreamApiError, type JetStreamPublishOptions } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import type { Bus } from "../connect.ts";

/** `err_code` of a message that the stream could not store; the description says why. */
const storeFailed = 10077;
const perSubject = "maximum messages per subject exceeded";

/** The stream refuses a second message on the subject: somebody owns the key. */
export const isSubjectTaken = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === storeFailed && error.message.includes(perSubject);

/** The server has answered and will answer the same again, or this process has closed its connection. */
const isFinal = (error: unknown): boolean =>
  error instanceof errors.ClosedConnectionError ||
  (error instanceof JetStreamApiError &&
    // Out of resources, no leader, a full disk: these pass.
    !(error.status >= 500) &&
    error.code !== storeFailed);

/** How a publish that keeps failing is told to the operator. */
export type PublishObserver = (failure: { subject: string; tries: number; error: Error }) => void;

/**
 * Publishes and waits for the answer; on timeouts, lost connections and passing refusals it tries again, for ever,
 * with growing pauses up to two seconds. Throws when the server refuses for good, when the subject is taken
 * ({@link isSubjectTaken}), or with the reason of `signal`.
 */
export async function publishUntilAnswered(
  { js }: Pick<Bus, "js">,
  subject: string,
  data: string,
  options: Partial<JetStreamPublishOptions> & {
    signal?: AbortSignal | undefined;
    observe?: PublishObserver;
  } = {},
): Promise<PubAck> {
  const { signal, observe, ...publish } = options;
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted();
    try {
      return await js.publish(subject, data, publish);
    } catch (error) {
      if (isSubjectTaken(error) || isFinal(error)) throw error;
      observe?.({ subject, tries, error: error as Error });
      await sleep(Math.min(2000, 20 * 2 ** Math.min(tries, 7)) * (0.5 + Math.random() / 2), undefined, {
        signal,
      });
    }
  }
}
