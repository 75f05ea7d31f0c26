/** The configuration of every stream. */
import { DiscardPolicy, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { activity, activityStream, streams, timersStream, workStream } from "../subjects.ts";
import type { Stream } from "./ensure.ts";
import { ownerMetadata } from "./owner.ts";

const seconds = (n: number): number => n * 1_000_000_000;
const hours = (n: number): number => seconds(n * 3600);

/** How long a deleted object stays on the bus for functions that are down. NATS duration text. */
export const tombstoneTtl = "72h";

/** Deduplication window: within it, a webhook is stored once, however often it is delivered. Milliseconds. */
export const webhookWindowMillis = 3_600_000;

/** How long an idle session of the dashboard lasts. */
export const sessionHours = 12;

/** Retention of activity records. */
export const activityHours = 24;

/** Size limit of one activity record, in bytes. The stream rejects longer ones. */
export const maxActivityRecordBytes = 4096;

/** Settings of the bus that an operator may choose. */
export interface BusOptions {
  /** Copies of each stream: 1 on a single server, 3 on a cluster. */
  readonly replicas: number;
  /**
   * How long a worker owns a ticket without extending it, in milliseconds. A worker extends it while it reconciles, so
   * this is the delay for the objects of a killed worker, not a limit on a reconcile.
   */
  readonly ackWaitMillis: number;
  /** Name of the project whose functions these are. Default: unknown, so it is not compared with that of others. */
  readonly project?: string;
}

/**
 * Slightly less than this many MiB. Limits of round sizes can reserve all storage of a server with a round size, which then
 * rejects even streams without a limit.
 */
const mebibytes = (n: number): number => n * 1_048_576 - 4096;

/**
 * Size limits of streams in bytes, so that no function fills the store for all others. The server reserves them when a
 * stream is created; if it cannot, the stream has no limit. OBJECTS, where only the bridge writes, uses the rest of the store.
 */
const maxBytes = {
  /** Tickets of a function: about 100,000 of 500 bytes. */
  work: mebibytes(64),
  /** Timers and marks of a function: about 300,000. */
  timers: mebibytes(128),
  webhooks: mebibytes(1024),
  indexes: mebibytes(256),
  deadLetters: mebibytes(256),
  sessions: mebibytes(32),
  activity: mebibytes(32),
};

/** Some settings are the server's defaults. They are declared so that a change, which would lose messages, is reverted. */
const base = ({ replicas }: BusOptions) => ({
  storage: StorageType.File,
  num_replicas: replicas,
  allow_direct: true,
  max_msgs: -1,
  max_msg_size: -1,
  max_age: 0,
  no_ack: false,
});

/** The settings of a function's streams. */
const baseOfFunction = (options: BusOptions) => ({
  ...base(options),
  ...(options.project !== undefined && { metadata: ownerMetadata(options.project) }),
});

/** The streams that every installation has. */
export function sharedStreams(options: BusOptions): Stream[] {
  return [
    {
      ...base(options),
      name: streams.objects,
      subjects: ["objects.>"],
      description: "The latest version of every watched object, as CloudEvents",
      retention: RetentionPolicy.Limits,
      max_msgs_per_subject: 1,
      discard: DiscardPolicy.Old,
      allow_msg_ttl: true,
      // The bridge orders writes by resourceVersion with compare-and-set; a message id would only cost memory.
      duplicate_window: seconds(1),
    },
    {
      ...base(options),
      name: streams.webhooks,
      subjects: ["webhooks.>"],
      description: "Deliveries of webhooks, as CloudEvents",
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.Old,
      // GitHub redelivers for as long.
      max_age: hours(72),
      max_bytes: maxBytes.webhooks,
      allow_rollup_hdrs: false,
      duplicate_window: webhookWindowMillis * 1e6,
    },
    {
      ...base(options),
      name: streams.indexes,
      subjects: ["indexes.>", "watched.>"],
      description:
        "Which objects have a value that a function looks them up by; and what its watches last routed",
      retention: RetentionPolicy.Limits,
      max_msgs_per_subject: 1,
      max_bytes: maxBytes.indexes,
      // A lost entry would hide an object from its function. A rejected one is retried.
      discard: DiscardPolicy.New,
      allow_msg_ttl: true,
      // A rollup by one function would delete the entries of all others.
      allow_rollup_hdrs: false,
      duplicate_window: seconds(1),
    },
    {
      ...base(options),
      name: streams.deadLetters,
      subjects: ["deadletters.>", "crashes.>"],
      description: "Requests that were given up, with the reason; and who crashed while reconciling what",
      retention: RetentionPolicy.Limits,
      max_msgs_per_subject: 1,
      discard: DiscardPolicy.Old,
      max_age: hours(14 * 24),
      max_bytes: maxBytes.deadLetters,
      allow_msg_ttl: true,
      // A rollup by one function would delete the dead letters of all others.
      allow_rollup_hdrs: false,
      duplicate_window: seconds(1),
    },
    {
      ...base(options),
      name: streams.sessions,
      subjects: ["sessions.>"],
      description: "Sessions of the dashboard, encrypted",
      retention: RetentionPolicy.Limits,
      max_msgs_per_subject: 1,
      discard: DiscardPolicy.Old,
      max_age: hours(sessionHours),
      max_bytes: maxBytes.sessions,
      allow_msg_ttl: true,
      allow_rollup_hdrs: false,
      duplicate_window: seconds(1),
    },
  ];
}

/**
 * The ticket queue's stream: at most one message per key, and that message *is* the ownership of the key. A second
 * publish for the key is rejected, so no message id may ever be set here (a duplicate would be answered as accepted).
 */
export const workStreamConfig = (fn: string, options: BusOptions): Stream => ({
  ...baseOfFunction(options),
  name: workStream(fn),
  subjects: [`work.${fn}.>`],
  description: `Tickets of the function ${fn}: one per object that needs a reconcile`,
  retention: RetentionPolicy.Workqueue,
  max_msgs_per_subject: 1,
  max_bytes: maxBytes.work,
  discard: DiscardPolicy.New,
  discard_new_per_subject: true,
  duplicate_window: seconds(1),
});

/** The stream of a function's timers and marks. Due messages stay in it. */
export const timersStreamConfig = (fn: string, options: BusOptions): Stream => ({
  ...baseOfFunction(options),
  name: timersStream(fn),
  subjects: [`timers.*.${fn}.>`, `marks.*.${fn}.>`, `sweeps.*.${fn}.>`],
  description: `Delayed requests and dirty marks of the function ${fn}: message schedules that outlive every worker`,
  retention: RetentionPolicy.Workqueue,
  max_msgs_per_subject: 1,
  max_bytes: maxBytes.timers,
  // Schedules require this policy: at the limit the oldest one is lost, and its object waits for the next sweep.
  discard: DiscardPolicy.Old,
  allow_msg_schedules: true,
  allow_rollup_hdrs: true,
  duplicate_window: seconds(1),
});

/** The stream of a function's activity: one record of about 700 bytes per reconcile. */
export const activityStreamConfig = (fn: string, options: BusOptions): Stream => ({
  ...baseOfFunction(options),
  name: activityStream(fn),
  subjects: [activity.everywhere(fn)],
  description: `What workers of the function ${fn} did: one record per reconcile`,
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.Old,
  max_age: hours(activityHours),
  // An object in a hot loop must not displace the records of others.
  max_msgs_per_subject: 200,
  max_msgs: 50_000,
  max_bytes: maxBytes.activity,
  max_msg_size: maxActivityRecordBytes,
  allow_rollup_hdrs: false,
  duplicate_window: seconds(1),
});
