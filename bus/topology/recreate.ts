/** Recreates consumers at their positions: after a change that JetStream cannot make in place, or after a deletion. */
import {
  type ConsumerConfig,
  type ConsumerInfo,
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  type StreamInfo,
} from "@nats-io/jetstream";
import type { Metadata } from "./version.ts";

/** Key in a stream's metadata: where a consumer that is being recreated continues. */
const positionKey = (consumer: string): string => `denrei.dev/position.${consumer}`;

/** Key in a stream's metadata: the first message for a consumer of new messages. */
const beginKey = (consumer: string): string => `denrei.dev/begin.${consumer}`;

/** Metadata of a new stream, whose messages are all for these consumers. */
export const beginningsOfNew = (consumers: readonly string[]): Metadata =>
  Object.fromEntries(consumers.map((consumer) => [beginKey(consumer), "1"]));

/**
 * Records in a stream's metadata where consumers of new messages start, before they are created. If such a consumer is
 * deleted, the next one starts there again: no message in between is lost, and acknowledged ones are delivered twice.
 */
export async function noteBeginnings(
  jsm: JetStreamManager,
  stream: string,
  consumers: readonly string[],
): Promise<void> {
  const { config, state } = await jsm.streams.info(stream);
  const unknown = consumers.filter((consumer) => config.metadata?.[beginKey(consumer)] === undefined);
  if (unknown.length === 0) return;
  const notes = unknown.map(async (consumer): Promise<[string, string]> => {
    const acknowledged = await acknowledgedBy(jsm, stream, consumer);
    return [beginKey(consumer), String((acknowledged ?? state.last_seq) + 1)];
  });
  const metadata = { ...config.metadata, ...Object.fromEntries(await Promise.all(notes)) };
  await jsm.streams.update(stream, { metadata });
}

/** The sequence up to which a consumer has acknowledged everything; undefined if it does not exist. */
async function acknowledgedBy(
  jsm: JetStreamManager,
  stream: string,
  consumer: string,
): Promise<number | undefined> {
  try {
    return (await jsm.consumers.info(stream, consumer)).ack_floor.stream_seq;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.status === 404) return undefined;
    throw error;
  }
}

/**
 * Deletes a consumer and recreates it after the last message that it acknowledged. The position is recorded in the stream
 * first: if the process dies in between, the next one finds the consumer missing and continues there.
 */
export async function replaceConsumer(
  jsm: JetStreamManager,
  stream: string,
  { name, ack_floor }: ConsumerInfo,
  wanted: Partial<ConsumerConfig>,
): Promise<void> {
  const { config } = await jsm.streams.info(stream);
  // A work queue contains only unacknowledged messages.
  const noted = config.retention !== RetentionPolicy.Workqueue;
  const key = positionKey(name);
  const note = { ...config.metadata, [key]: String(ack_floor.stream_seq + 1) };
  if (noted) await jsm.streams.update(stream, { metadata: note });
  await jsm.consumers.delete(stream, name);
  await jsm.consumers.add(stream, await asBegun(jsm, stream, wanted));
  if (!noted) return;
  const { [key]: _done, ...metadata } = note;
  await jsm.streams.update(stream, { metadata });
}

/** The configuration of a missing consumer, with its start position. */
export async function asBegun(
  jsm: JetStreamManager,
  stream: string,
  wanted: Partial<ConsumerConfig>,
): Promise<Partial<ConsumerConfig>> {
  const info = await jsm.streams.info(stream);
  const { config } = info;
  const consumer = wanted.durable_name ?? "";
  const position = config.metadata?.[positionKey(consumer)] ?? config.metadata?.[beginKey(consumer)];
  if (position !== undefined)
    return { ...wanted, deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: Number(position) };
  if (config.retention !== RetentionPolicy.Workqueue || !(await hasMessages(jsm, stream, wanted)))
    return wanted;
  // Another process may still own messages from the deleted consumer, for at most one AckWait.
  const until = timeOf(info) + (wanted.ack_wait ?? 0) / 1e6;
  return { ...wanted, pause_until: new Date(until).toISOString() };
}

/** The server's time of the response. The server's clock also ends the pause. Milliseconds since the epoch. */
function timeOf(info: StreamInfo & { readonly ts?: string }): number {
  const time = Date.parse(info.ts ?? "");
  if (Number.isNaN(time)) throw new Error(`the stream info of ${info.config.name} has no time`);
  return time;
}

async function hasMessages(
  jsm: JetStreamManager,
  stream: string,
  { filter_subjects = [] }: Partial<ConsumerConfig>,
): Promise<boolean> {
  for (const filter of filter_subjects) {
    const { state } = await jsm.streams.info(stream, { subjects_filter: filter });
    if (Object.keys(state.subjects ?? {}).length > 0) return true;
  }
  return false;
}
