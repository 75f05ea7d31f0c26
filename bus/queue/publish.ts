/** Publishing that is retried until it is answered: a lost answer must never lose a request. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiError, JetStreamApiError } from "@nats-io/jetstream";
import { errors, headers, type Msg, type MsgHdrs } from "@nats-io/transport-node";
import type { Bus } from "../nats/connect.ts";
import { BusPermissionError } from "../nats/permissionerror.ts";

/** `err_code` of a message that the stream could not store; the description says why. */
const storeFailed = 10077;
const perSubject = "maximum messages per subject exceeded";

/** The stream refuses a second message on the subject: somebody owns the key. */
export const isSubjectTaken = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === storeFailed && error.message.includes(perSubject);

/** The server answers the same again, the message can never be sent, or this process has closed its connection. */
const isFinal = (error: unknown): boolean =>
  error instanceof errors.ClosedConnectionError ||
  // Larger than the server's max_payload, or a subject that is none.
  error instanceof errors.InvalidArgumentError ||
  error instanceof errors.InvalidSubjectError ||
  error instanceof BusPermissionError ||
  (error instanceof JetStreamApiError &&
    // Out of resources, no leader, a full disk: these pass.
    !(error.status >= 500) &&
    error.code !== storeFailed);

/** How a publish that keeps failing is told to the operator. */
export type PublishObserver = (failure: { subject: string; tries: number; error: Error }) => void;

/** What a publish may ask of the stream beside storing the message. */
export interface PublishOptions {
  readonly headers?: MsgHdrs | undefined;
  /** Compare-and-set: the last message of the subject has this sequence; 0 for none. */
  readonly lastSubjectSequence?: number;
  /** The stream takes a message of this id once within its window. */
  readonly messageId?: string;
  /** How long the message is kept: NATS duration text. */
  readonly ttl?: string;
  /** A message schedule: stored now, delivered to the target's subject at that time. */
  readonly schedule?: { readonly at: Date; readonly target: string };
  readonly signal?: AbortSignal | undefined;
  readonly observe?: PublishObserver | undefined;
}

/** Header names: ADR-22 (expectations), ADR-43 (TTL), ADR-51 (schedules) of nats-architecture-and-design. */
function headersOf({
  headers: given,
  lastSubjectSequence,
  messageId,
  ttl,
  schedule,
}: PublishOptions): MsgHdrs | undefined {
  const values = [given, lastSubjectSequence, messageId, ttl, schedule];
  if (values.every((wish) => wish === undefined)) return undefined;
  const all = given ?? headers();
  if (messageId !== undefined) all.set("Nats-Msg-Id", messageId);
  if (lastSubjectSequence !== undefined)
    all.set("Nats-Expected-Last-Subject-Sequence", String(lastSubjectSequence));
  if (ttl !== undefined) all.set("Nats-TTL", ttl);
  if (schedule !== undefined) {
    all.set("Nats-Schedule", `@at ${schedule.at.toISOString()}`);
    all.set("Nats-Schedule-Target", schedule.target);
  }
  return all;
}

/**
 * Asks the bus until it answers: on timeouts, lost connections and passing refusals again, for ever, with growing pauses
 * up to two seconds. Throws what it refuses for good, or the reason of `signal`; `onFailure` is told of each failed try.
 */
export async function untilAnswered<T>(
  ask: () => Promise<T>,
  signal: AbortSignal | undefined,
  onFailure?: (tries: number, error: Error) => void,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (isSubjectTaken(error) || isFinal(error)) throw error;
      onFailure?.(tries, error as Error);
      const pause = Math.min(2000, 20 * 2 ** Math.min(tries, 7)) * (0.5 + Math.random() / 2);
      await sleep(pause, undefined, { signal });
    }
  }
}

/** Where the stream has a message. */
export interface Published {
  readonly sequence: number;
  /** The stream had one of this id already, and has not stored another. */
  readonly duplicate: boolean;
}

/**
 * Publishes until it is answered ({@link untilAnswered}). Throws when the server refuses for good (also because this user
 * may not: `BusPermissionError`), when the subject is taken ({@link isSubjectTaken}), or with the reason of `signal`.
 */
export async function publishAnswered(
  { inbox, stuck }: Pick<Bus, "inbox" | "stuck">,
  subject: string,
  data: string,
  options: PublishOptions = {},
): Promise<Published> {
  const headers = headersOf(options);
  const publish = async () => publishedIn(await inbox.request(subject, data, { headers }));
  try {
    return await untilAnswered(publish, options.signal, (tries, error) => {
      stuck.failed(options, error);
      options.observe?.({ subject, tries, error });
    });
  } finally {
    stuck.over(options);
  }
}

/** Publishes like {@link publishAnswered}, and resolves with the message's sequence alone. */
export const publishUntilAnswered = async (...args: Parameters<typeof publishAnswered>): Promise<number> =>
  (await publishAnswered(...args)).sequence;

/** Reads a stream's answer to a publish; throws what it refuses with. */
function publishedIn(answer: Msg): Published {
  const {
    seq,
    duplicate = false,
    error,
  } = answer.json<{ seq: number; duplicate?: boolean; error?: ApiError }>();
  if (error !== undefined) throw new JetStreamApiError(error);
  return { sequence: seq, duplicate };
}
