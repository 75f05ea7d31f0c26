/**
 * The configuration of every stream, bucket and consumer, and the functions that bring a bus to it.
 *
 * `ensureTopology` is idempotent, and so are its parts for processes that need less. Every process calls one of them at start: whoever
 * comes first, and may, creates what is missing, the others find it. Where the server has users, the bridge is who may ({@link "./permissions.ts"}). What an
 * operator chose (replicas, storage, limits beyond ours) is left alone, and so is what a newer program has declared
 * ({@link "./topology/version.ts"}).
 */
import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import { maxRecordBytes } from "./activity/record.ts";
import type { Bus } from "./connect.ts";
import {
  activity,
  activityStream,
  bridgeBucket,
  consumers,
  kindSubjects,
  type LooksAt,
  type QueueScope,
  streams,
  sweeps,
  timersStream,
  type WebhookAddress,
  webhookSubjects,
  work,
  workStream,
} from "./subjects.ts";
import {
  deleteConsumer,
  type Ensuring,
  ensureConsumer,
  ensureStream,
  mend,
  type Stream,
  streamChange,
} from "./topology/ensure.ts";
import { currentPlan } from "./topology/version.ts";

export { TopologyError } from "./topology/ensure.ts";

const seconds = (n: number): number => n * 1_000_000_000;
const hours = (n: number): number => seconds(n * 3600);

/** How long a deleted object stays on the bus for functions that are down. NATS duration text. */
export const tombstoneTtl = "72h";

/**
 * How long a router or relay may hold a message before another replica gets it, in milliseconds: far above what one takes,
 * and no longer than a ticket, for what a killed worker was routing waits like what it was reconciling.
 */
const routeAckWaitMillis = ({ ackWaitMillis }: BusOptions): number => Math.min(5_000, ackWaitMillis);

/** Within this time a delivery of a webhook is taken once, whoever brings it again. Milliseconds. */
export const webhookWindowMillis = 3_600_000;

/** How long a session of the dashboard lasts in which nothing happens. */
export const sessionHours = 12;

/** How long what workers did is kept. */
export const activityHours = 24;

/** What an operator may choose about the bus. */
export interface BusOptions {
  /** Copies of each stream: 1 on a single server, 3 on a cluster. */
  readonly replicas: number;
  /**
   * How long a worker owns a ticket without a sign of life, in milliseconds. A worker extends it while it reconciles,
   * so this is the time a killed worker's objects wait, not a limit on a reconcile.
   */
  readonly ackWaitMillis: number;
}

const mebibytes = (n: number): number => n * 1_048_576;

/**
 * What a stream may take, in bytes, so that no function fills the store for all others. The server reserves it when the stream is
 * made; where it cannot, the stream has no limit. OBJECTS has the rest of the store: only the bridge writes there.
 */
const maxBytes = {
  /** Tickets of a function: some 100,000, of 500 bytes. */
  work: mebibytes(64),
  /** Timers and marks of a function: some 300,000. */
  timers: mebibytes(128),
  webhooks: mebibytes(1024),
  indexes: mebibytes(256),
  deadLetters: mebibytes(256),
  sessions: mebibytes(32),
  activity: mebibytes(32),
};

const base = ({ replicas }: BusOptions) => ({
  storage: StorageType.File,
  num_replicas: replicas,
  allow_direct: true,
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
      // For so long GitHub delivers again what is asked for.
      max_age: hours(72),
      max_bytes: maxBytes.webhooks,
      allow_rollup_hdrs: false,
      duplicate_window: webhookWindowMillis * 1e6,
    },
    {
      ...base(options),
      name: streams.indexes,
      subjects: ["indexes.>"],
      description: "Which objects have a value that a function looks them up by",
      retention: RetentionPolicy.Limits,
      max_msgs_per_subject: 1,
      max_bytes: maxBytes.indexes,
      // An entry that is missing would hide an object from its function; one that is refused is tried again.
      discard: DiscardPolicy.New,
      allow_msg_ttl: true,
      // A function that may write one entry could sweep away everybody's with it.
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
      // A function that may write one letter could sweep away everybody's with it.
      allow_rollup_hdrs: false,
      duplicate_window: seconds(1),
    },
    {
      ...base(options),
      name: streams.sessions,
      subjects: ["sessions.>"],
      description: "Who has logged in to the dashboard, encrypted",
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
 * publish for the key is refused, so no message id may ever be set here (a duplicate would be answered as accepted).
 */
export const workStreamConfig = (fn: string, options: BusOptions): Stream => ({
  ...base(options),
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

/** The stream of a function's timers and marks; what a schedule makes due stays in it. */
export const timersStreamConfig = (fn: string, options: BusOptions): Stream => ({
  ...base(options),
  name: timersStream(fn),
  subjects: [`timers.*.${fn}.>`, `marks.*.${fn}.>`, `sweeps.*.${fn}.*`],
  description: `Delayed requests and dirty marks of the function ${fn}: message schedules that outlive every worker`,
  retention: RetentionPolicy.Workqueue,
  max_msgs_per_subject: 1,
  max_bytes: maxBytes.timers,
  // The server takes no other for schedules: at the limit the oldest one is lost, and its object waits for the next sweep.
  discard: DiscardPolicy.Old,
  allow_msg_schedules: true,
  allow_rollup_hdrs: true,
  duplicate_window: seconds(1),
});

/** The stream of what a function's workers did: one record for each reconcile, of 700 bytes as they are. */
export const activityStreamConfig = (fn: string, options: BusOptions): Stream => ({
  ...base(options),
  name: activityStream(fn),
  subjects: [activity.everywhere(fn)],
  description: `What workers of the function ${fn} did: one record per reconcile`,
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.Old,
  max_age: hours(activityHours),
  // What is looped over must not push out all else.
  max_msgs_per_subject: 200,
  max_msgs: 50_000,
  max_bytes: maxBytes.activity,
  max_msg_size: maxRecordBytes,
  allow_rollup_hdrs: false,
  duplicate_window: seconds(1),
});

/** What wakes a function, and how it finds its objects. */
export interface Interest extends LooksAt {
  /** Events whose webhooks wake it. */
  readonly webhooks?: readonly Pick<WebhookAddress, "provider" | "event">[];
}

const durable = (name: string, config: Partial<ConsumerConfig>): Partial<ConsumerConfig> => ({
  durable_name: name,
  ack_policy: AckPolicy.Explicit,
  max_deliver: -1,
  ...config,
});

const webhookConsumer = (
  scope: QueueScope,
  webhooks: NonNullable<Interest["webhooks"]>,
  options: BusOptions,
): [string, Partial<ConsumerConfig>] => [
  streams.webhooks,
  durable(consumers.webhooks(scope), {
    // Every object is reconciled when its function is new: what came before is seen then.
    deliver_policy: DeliverPolicy.New,
    filter_subjects: [...new Set(webhooks.map(webhookSubjects))].sort(),
    ack_wait: routeAckWaitMillis(options) * 1e6,
    max_ack_pending: 2000,
  }),
];

/** Consumers of one function, by stream. */
export function functionConsumers(
  interest: Interest,
  options: BusOptions,
): [stream: string, Partial<ConsumerConfig>][] {
  const { scope, kinds, webhooks = [] } = interest;
  return [
    [
      streams.objects,
      durable(consumers.router(interest), {
        // With one message per object, "all" is list-then-watch.
        deliver_policy: DeliverPolicy.All,
        filter_subjects: [...new Set(kinds.map((kind) => kindSubjects(scope.cluster, kind)))].sort(),
        ack_wait: routeAckWaitMillis(options) * 1e6,
        max_ack_pending: 2000,
      }),
    ],
    ...(webhooks.length === 0 ? [] : [webhookConsumer(scope, webhooks, options)]),
    [
      workStream(scope.fn),
      durable(consumers.worker(scope), {
        deliver_policy: DeliverPolicy.All,
        filter_subjects: [work.tickets(scope)],
        ack_wait: options.ackWaitMillis * 1e6,
        // Workers pull no more than they have free slots for, so the slots are the limit.
        max_ack_pending: -1,
      }),
    ],
    [
      timersStream(scope.fn),
      durable(consumers.relay(scope), {
        deliver_policy: DeliverPolicy.All,
        filter_subjects: [work.marksDue(scope), sweeps.due(scope), work.timersDue(scope)],
        ack_wait: routeAckWaitMillis(options) * 1e6,
        max_ack_pending: 2000,
      }),
    ],
  ];
}

type Ensured = Pick<Bus, "jsm" | "identity">;

const ensuring = ({ jsm, identity: { user } }: Ensured, onUnlimited?: Ensuring["onUnlimited"]): Ensuring => ({
  ...{ jsm, user, onUnlimited },
  plan: currentPlan,
});

/** Brings a bus to the stream of webhooks, all that a gateway needs. Throws {@link TopologyError} like {@link ensureTopology}. */
export async function ensureWebhooks(bus: Ensured, options: BusOptions): Promise<void> {
  const wanted = sharedStreams(options).filter(({ name }) => name === streams.webhooks);
  await Promise.all(wanted.map((config) => ensureStream(ensuring(bus), config)));
}

/** Brings a bus to the stream of sessions, all that a dashboard needs. Throws {@link TopologyError} like {@link ensureTopology}. */
export async function ensureDashboard(bus: Ensured, options: BusOptions): Promise<void> {
  const wanted = sharedStreams(options).filter(({ name }) => name === streams.sessions);
  await Promise.all(wanted.map((config) => ensureStream(ensuring(bus), config)));
}

/**
 * With a stream that is missing, requests or index entries of the function are lost. Its router begins with all objects again,
 * as that of a new function does.
 */
async function restartRouting(bus: Ensured, interest: Interest, missing: ReadonlySet<string>): Promise<void> {
  const { fn } = interest.scope;
  const derived = [workStream(fn), timersStream(fn), ...(interest.indexes?.length ? [streams.indexes] : [])];
  if (missing.has(streams.objects) || !derived.some((stream) => missing.has(stream))) return;
  await deleteConsumer(ensuring(bus), streams.objects, consumers.router(interest));
}

/** Makes streams as they are declared, then those that functions read from, and their consumers. */
async function ensureParts(
  bus: Ensured,
  options: BusOptions,
  written: readonly Stream[],
  interests: readonly Interest[],
  onUnlimited?: Ensuring["onUnlimited"],
): Promise<void> {
  const wanted = [
    ...written,
    ...interests.flatMap(({ scope: { fn } }) => [
      workStreamConfig(fn, options),
      timersStreamConfig(fn, options),
    ]),
  ];
  const changes = await Promise.all(wanted.map((config) => streamChange(ensuring(bus, onUnlimited), config)));
  const missing = new Set(changes.flatMap((change) => (change?.missing ? [change.stream] : [])));
  // Before the streams are created: a process that dies in between leaves both missing.
  await Promise.all(interests.map((interest) => restartRouting(bus, interest, missing)));
  await Promise.all(changes.map((change) => change?.make()));
  await Promise.all(
    interests
      .flatMap((interest) => functionConsumers(interest, options))
      .map(([stream, config]) => ensureConsumer(ensuring(bus), stream, config)),
  );
}

/**
 * Brings a bus to what workers of the given functions read from. A function may not look at streams that hold what belongs to
 * others, such as those of webhooks and letters, so these are left to the bridge. Throws {@link TopologyError} like
 * {@link ensureTopology}.
 */
export function ensureFunctions(
  bus: Ensured,
  options: BusOptions,
  interests: readonly Interest[],
): Promise<void> {
  const objects = sharedStreams(options).filter(({ name }) => name === streams.objects);
  return ensureParts(bus, options, objects, interests);
}

/**
 * Brings a bus to all streams and to the consumers that the given functions need. Throws {@link TopologyError} when something
 * is missing that this user may not make, or is of a newer program that this one can not go on beside. `onUnlimited` is called with
 * streams that the server has no storage to limit.
 */
export async function ensureTopology(
  bus: Pick<Bus, "jsm" | "kvm" | "identity">,
  options: BusOptions,
  interests: readonly Interest[] = [],
  onUnlimited?: (stream: string) => void,
): Promise<void> {
  const records = interests.map(({ scope: { fn } }) => activityStreamConfig(fn, options));
  await ensureParts(bus, options, [...sharedStreams(options), ...records], interests, onUnlimited);
  await mend(bus.identity.user, `bucket ${bridgeBucket}`, "none", () =>
    bus.kvm.create(bridgeBucket, { history: 1, replicas: options.replicas, storage: StorageType.File }),
  );
}
