/** A stream and a consumer of two program versions, on a real server. */
import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import { ensureConsumer, ensureStream, type Stream } from "../../bus/topology/ensure.ts";
import type { Migration, TopologyPlan } from "../../bus/topology/version.ts";
import type { LocalBus } from "../harness/localbus.ts";

/** A program of this topology version. */
export const version = (number: number, serves = 0, migrations: readonly Migration[] = []): TopologyPlan => ({
  version: number,
  serves,
  migrations,
});

export const events = (name: string, more: Partial<Stream> = {}): Stream => ({
  name,
  subjects: [`${name}.>`],
  storage: StorageType.File,
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.Old,
  max_age: 3600e9,
  ...more,
});

export const reader = (name: string, more: Partial<ConsumerConfig> = {}): Partial<ConsumerConfig> => ({
  durable_name: "reader",
  ack_policy: AckPolicy.Explicit,
  deliver_policy: DeliverPolicy.All,
  filter_subjects: [`${name}.a`],
  ack_wait: 5e9,
  max_ack_pending: 100,
  ...more,
});

/** Actions of programs on the bus. */
export interface TopologyBench {
  /** Starts a program: it ensures the stream, and the consumer if given. */
  start(plan: TopologyPlan, stream: Stream, consumer?: Partial<ConsumerConfig>): Promise<void>;
  /** The number of configuration writes since the last call. */
  writes(): Promise<number>;
}

export async function openBench({ bus }: LocalBus): Promise<TopologyBench> {
  let writes = 0;
  for (const subject of ["STREAM.UPDATED.>", "STREAM.CREATED.>", "CONSUMER.CREATED.>", "CONSUMER.DELETED.>"])
    bus.nc.subscribe(`$JS.EVENT.ADVISORY.${subject}`, { callback: () => void writes++ });
  await bus.nc.flush();
  return {
    async start(plan, stream, consumer) {
      const ensuring = { jsm: bus.jsm, user: "a test", plan };
      await ensureStream(ensuring, stream);
      if (consumer) await ensureConsumer(ensuring, stream.name, consumer);
    },
    async writes() {
      await bus.nc.flush();
      const before = writes;
      writes = 0;
      return before;
    },
  };
}
