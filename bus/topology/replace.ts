/** Making a consumer anew where it was: what JetStream does not change in place. */
import {
  type ConsumerConfig,
  type ConsumerInfo,
  DeliverPolicy,
  type JetStreamManager,
  RetentionPolicy,
} from "@nats-io/jetstream";

/** Key of a stream's metadata: where a consumer goes on that is being made anew. */
const positionKey = (consumer: string): string => `denrei.dev/position.${consumer}`;

/**
 * Deletes a consumer and creates it as wanted, behind what it has acknowledged. Where it goes on is noted in the stream
 * before: whoever finds the consumer missing, because the process died in between, goes on there as well.
 */
export async function replaceConsumer(
  jsm: JetStreamManager,
  stream: string,
  { name, ack_floor }: ConsumerInfo,
  wanted: Partial<ConsumerConfig>,
): Promise<void> {
  const { config } = await jsm.streams.info(stream);
  // In a work queue what is not acknowledged is all that there is.
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

/** The configuration with which a consumer that is missing begins. */
export async function asBegun(
  jsm: JetStreamManager,
  stream: string,
  wanted: Partial<ConsumerConfig>,
): Promise<Partial<ConsumerConfig>> {
  const { config } = await jsm.streams.info(stream);
  const position = config.metadata?.[positionKey(wanted.durable_name ?? "")];
  if (position !== undefined)
    return { ...wanted, deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: Number(position) };
  if (config.retention !== RetentionPolicy.Workqueue || !(await hasMessages(jsm, stream, wanted)))
    return wanted;
  // Somebody may have in hand what the consumer before delivered, and believes to own it for an AckWait at most.
  const until = Date.now() + (wanted.ack_wait ?? 0) / 1e6;
  return { ...wanted, pause_until: new Date(until).toISOString() };
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
