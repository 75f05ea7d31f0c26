/** Publishes with retries until the server answers: a lost answer must never lose a request. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiError, JetStreamApiError } from "@nats-io/jetstream";
import { errors, headers, type Msg, type MsgHdrs } from "@nats-io/transport-node";
import type { Bus } from "../nats/connect.ts";
import { BusPermissionError } from "../nats/permissionerror.ts";

/** `err_code` of a message that the stream could not store; the description says why. */
const storeFailed = 10077;
const perSubject = "maximum messages per subject exceeded";

/** The stream refused a second message on the subject: the key is owned. */
export const isSubjectTaken = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === storeFailed && error.message.includes(perSubject);

/** A retry cannot help: the server would refuse again, the message can never be sent, or the connection is closed. */
const isFinal = (error: unknown): boolean =>
  error instanceof errors.ClosedConnectionError ||
  // Larger than the server's max_payload, or an invalid subject.
  error instanceof errors.InvalidArgumentError ||
  error instanceof errors.InvalidSubjectError ||
  error instanceof BusPermissionError ||
  (error instanceof JetStreamApiError &&
    // Out of resources, no leader, a full disk: these are temporary.
    !(error.status >= 500) &&
    error.code !== storeFailed);

/** Called for each failed try, to report a publish that keeps failing. */
export type PublishObserver = (failure: { subject: string; tries: number; error: Error }) => void;

/** Options of a publish. */
export interface PublishOptions {
  readonly headers?: MsgHdrs | undefined;
  /** Compare-and-set: the expected sequence of the subject's last message; 0 for none. */
  readonly lastSubjectSequence?: number;
  /** The stream stores a message with this id only once within its deduplication window. */
  readonly messageId?: string;
  /** How long the message is kept: NATS duration text. */
  readonly ttl?: string | undefined;
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
  if (values.every((value) => value === undefined)) return undefined;
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
 * Retries a request until the bus answers: without limit on timeouts, lost connections, and temporary errors, with growing
 * pauses of up to two seconds. Throws permanent errors, or the reason of `signal`. Calls `onFailure` after each failed try.
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

/** The stream's answer to a publish. */
export interface Published {
  readonly sequence: number;
  /** The stream already had a message with this id, and stored no other. */
  readonly duplicate: boolean;
}

/**
 * Publishes until the server answers ({@link untilAnswered}). Throws on a permanent error (including a `BusPermissionError`),
 * when the subject is taken ({@link isSubjectTaken}), or with the reason of `signal`.
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

/** Like {@link publishAnswered}, but resolves with only the message's sequence. */
export const publishUntilAnswered = async (...args: Parameters<typeof publishAnswered>): Promise<number> =>
  (await publishAnswered(...args)).sequence;

/** Parses a stream's answer to a publish; throws the error in it. */
function publishedIn(answer: Msg): Published {
  const {
    seq,
    duplicate = false,
    error,
  } = answer.json<{ seq: number; duplicate?: boolean; error?: ApiError }>();
  if (error !== undefined) throw new JetStreamApiError(error);
  return { sequence: seq, duplicate };
}
