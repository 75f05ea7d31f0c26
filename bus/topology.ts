/**
 * The configuration of every bucket and consumer, and functions that ensure them and the streams
 * ({@link "./topology/streams.ts"}).
 *
 * `ensureTopology` is idempotent, and so are its parts for processes that need less. Every process calls one of them at start.
 * The first process with the permission creates missing streams and consumers. Where the server has users, only the bridge
 * has it ({@link "./permissions.ts"}). Settings that an operator chose (replicas, storage, larger limits) stay, and so do
 * those of a newer program ({@link "./topology/version.ts"}).
 */
import { AckPolicy, type ConsumerConfig, DeliverPolicy, StorageType } from "@nats-io/jetstream";
import type { Bus } from "./nats/connect.ts";
import {
  bridgeBucket,
  consumers,
  type GroupKind,
  kindSubjects,
  type ObjectSubscription,
  type QueueScope,
  streams,
  timersStream,
  type WebhookAddress,
  webhookSubjects,
  work,
  workStream,
} from "./subjects.ts";
import {
  changeTopology,
  type Ensuring,
  ensureConsumer,
  ensureStream,
  restartConsumer,
  type Stream,
  streamChange,
} from "./topology/ensure.ts";
import { expectOwn } from "./topology/owner.ts";
import { beginningsOfNew, noteBeginnings } from "./topology/recreate.ts";
import {
  activityStreamConfig,
  type BusOptions,
  sharedStreams,
  timersStreamConfig,
  workStreamConfig,
} from "./topology/streams.ts";
import { currentPlan, type Metadata } from "./topology/version.ts";

export { TopologyError } from "./topology/ensure.ts";
export type { BusOptions } from "./topology/streams.ts";

/**
 * How long a router or relay may hold a message before another replica gets it, in milliseconds. Far above the time that one
 * takes, and no longer than for a ticket: messages that a killed worker was routing wait as long as those it was reconciling.
 */
export const routeAckWaitMillis = ({ ackWaitMillis }: Pick<BusOptions, "ackWaitMillis">): number =>
  Math.min(5_000, ackWaitMillis);

/** What a function subscribes to, and how it finds its objects. */
export interface FunctionSubscription extends ObjectSubscription {
  /** The kinds that the installation lists now. Only the bridge knows them. */
  readonly listed?: readonly GroupKind[];
  /** Webhook events that the function subscribes to. */
  readonly webhooks?: readonly Pick<WebhookAddress, "provider" | "event">[];
}

const durable = (name: string, config: Partial<ConsumerConfig>): Partial<ConsumerConfig> => ({
  durable_name: name,
  ack_policy: AckPolicy.Explicit,
  max_deliver: -1,
  // The server's defaults. They are declared so that a change, which would withhold messages from a function, is reverted.
  headers_only: false,
  inactive_threshold: 0,
  max_batch: 0,
  max_expires: 0,
  ...config,
});

const webhookConsumer = (
  scope: QueueScope,
  webhooks: NonNullable<FunctionSubscription["webhooks"]>,
  options: BusOptions,
): [string, Partial<ConsumerConfig>] => [
  streams.webhooks,
  durable(consumers.webhooks(scope), {
    // A new function reconciles every object first, which covers earlier webhooks.
    deliver_policy: DeliverPolicy.New,
    filter_subjects: [...new Set(webhooks.map(webhookSubjects))].sort(),
    ack_wait: routeAckWaitMillis(options) * 1e6,
    max_ack_pending: 2000,
  }),
];

/** Consumers of one function, by stream. */
export function functionConsumers(
  subscription: FunctionSubscription,
  options: BusOptions,
): [stream: string, Partial<ConsumerConfig>][] {
  const { scope, kinds, listed = [], webhooks = [] } = subscription;
  return [
    [
      streams.objects,
      durable(consumers.router(subscription), {
        // With one message per object, "all" is list-then-watch.
        deliver_policy: DeliverPolicy.All,
        filter_subjects: [
          ...new Set([...kinds, ...listed].map((kind) => kindSubjects(scope.cluster, kind))),
        ].sort(),
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
        // One filter: with several, the server scans all waiting messages for each one that it delivers. With 10,000 due
        // messages and gaps among them, that made 400 messages/s, and one filter 30,000/s (nats-server 2.15.2).
        filter_subjects: [work.due(scope)],
        ack_wait: routeAckWaitMillis(options) * 1e6,
        max_ack_pending: 2000,
      }),
    ],
  ];
}

/** What ensuring streams and consumers needs of the bus. */
export type Ensured = Pick<Bus, "jsm" | "identity">;

const ensuring = ({ jsm, identity: { user } }: Ensured, onUnlimited?: Ensuring["onUnlimited"]): Ensuring => ({
  ...{ jsm, user, onUnlimited },
  plan: currentPlan,
});

/** Ensures the stream of webhooks, all that a gateway needs. Throws {@link TopologyError} like {@link ensureTopology}. */
export async function ensureWebhooks(bus: Ensured, options: BusOptions): Promise<void> {
  const wanted = sharedStreams(options).filter(({ name }) => name === streams.webhooks);
  await Promise.all(wanted.map((config) => ensureStream(ensuring(bus), config)));
}

/** Ensures the stream of sessions, all that a dashboard needs. Throws {@link TopologyError} like {@link ensureTopology}. */
export async function ensureDashboard(bus: Ensured, options: BusOptions): Promise<void> {
  const wanted = sharedStreams(options).filter(({ name }) => name === streams.sessions);
  await Promise.all(wanted.map((config) => ensureStream(ensuring(bus), config)));
}

/** A missing stream means that requests of the function are lost. Its router starts with all objects again, like that of a new function. */
async function restartRouting(
  ensuring: Ensuring,
  subscription: FunctionSubscription,
  missing: ReadonlySet<string>,
): Promise<void> {
  const { fn } = subscription.scope;
  const derived = [workStream(fn), timersStream(fn)];
  if (missing.has(streams.objects) || !derived.some((stream) => missing.has(stream))) return;
  await restartConsumer(ensuring, streams.objects, consumers.router(subscription));
}

const namesOf = (subscriptions: readonly FunctionSubscription[]): string[] =>
  subscriptions.map(({ scope }) => scope.fn);

/** Creates or updates declared streams and those of functions. */
async function ensureStreams(
  ensuring: Ensuring,
  options: BusOptions,
  written: readonly Stream[],
  subscriptions: readonly FunctionSubscription[],
): Promise<void> {
  const wanted = [
    ...written,
    ...subscriptions.flatMap(({ scope: { fn } }) => [
      workStreamConfig(fn, options),
      timersStreamConfig(fn, options),
    ]),
  ];
  const changes = await Promise.all(wanted.map((config) => streamChange(ensuring, config)));
  const missing = new Set(changes.flatMap((change) => (change?.missing ? [change.stream] : [])));
  // Before the streams are created: a process that dies in between leaves both missing.
  await Promise.all(subscriptions.map((subscription) => restartRouting(ensuring, subscription, missing)));
  // One by one: the server checks a limit before it reserves it (addStream in server/stream.go), so limits set at once can reserve
  // more than it has. It then rejects every new stream, even without a limit.
  for (const change of changes) await change?.make();
}

const usesIndexes = ({ indexes = [], filters = [] }: FunctionSubscription): boolean =>
  indexes.length > 0 || filters.length > 0;

/**
 * Routers whose index entries and watch records are lost start with all objects again. A bridge of another project may have created
 * INDEXES again, so each router's metadata says when the stream was created that has its entries. Returns that metadata.
 */
async function restartUnindexed(
  ensuring: Ensuring,
  subscriptions: readonly FunctionSubscription[],
): Promise<Metadata> {
  const { created } = await ensuring.jsm.streams.info(streams.indexes);
  const metadata = { "denrei.dev/indexes": created };
  const routers = subscriptions.filter(usesIndexes).map((subscription) => consumers.router(subscription));
  await Promise.all(
    routers.map((router) => restartConsumer(ensuring, streams.objects, router, { unless: metadata })),
  );
  return metadata;
}

async function ensureConsumers(
  ensuring: Ensuring,
  options: BusOptions,
  subscriptions: readonly FunctionSubscription[],
  indexed?: Metadata,
): Promise<void> {
  const consumers = subscriptions.flatMap((subscription) =>
    functionConsumers(subscription, options).map(([stream, config]) => ({
      stream,
      config:
        indexed !== undefined && stream === streams.objects && usesIndexes(subscription)
          ? { ...config, metadata: indexed }
          : config,
      // Another process may have read a longer list of kinds.
      filters:
        subscription.ownsListed && stream === streams.objects ? ("at least" as const) : ("exactly" as const),
    })),
  );
  await Promise.all(
    consumers.map(({ stream, config, filters }) => ensureConsumer(ensuring, stream, config, filters)),
  );
}

/**
 * Ensures what workers of the given functions read from. A function may not access streams with messages of others, such as
 * webhooks and dead letters, so these are left to the bridge. Throws like {@link ensureTopology}.
 */
export async function ensureFunctions(
  bus: Ensured,
  options: BusOptions,
  subscriptions: readonly FunctionSubscription[],
): Promise<void> {
  const { project, ...settings } = options;
  await expectOwn(bus.jsm, namesOf(subscriptions), project);
  const objects = sharedStreams(settings).filter(({ name }) => name === streams.objects);
  // Without the project: only the bridge writes it.
  await ensureStreams(ensuring(bus), settings, objects, subscriptions);
  await ensureConsumers(ensuring(bus), options, subscriptions);
}

/**
 * Ensures all streams, and the consumers that the given functions need. Throws {@link TopologyError} if something is missing
 * that this user may not create, or was declared by a newer program that this one cannot work with, and a
 * `ForeignFunctionError` if a function belongs to another project. `onUnlimited` is called with streams whose limit the server has no storage for.
 */
export async function ensureTopology(
  bus: Pick<Bus, "jsm" | "kvm" | "identity">,
  options: BusOptions,
  subscriptions: readonly FunctionSubscription[] = [],
  onUnlimited?: (stream: string) => void,
): Promise<void> {
  await expectOwn(bus.jsm, namesOf(subscriptions), options.project);
  const records = subscriptions.map(({ scope: { fn } }) => activityStreamConfig(fn, options));
  const listeners = subscriptions.flatMap(({ scope, webhooks = [] }) =>
    webhooks.length === 0 ? [] : [consumers.webhooks(scope)],
  );
  const all: Ensuring = {
    ...ensuring(bus, onUnlimited),
    metadataOfNew: (stream) => (stream === streams.webhooks ? beginningsOfNew(listeners) : {}),
  };
  await ensureStreams(all, options, [...sharedStreams(options), ...records], subscriptions);
  await noteBeginnings(bus.jsm, streams.webhooks, listeners);
  await ensureConsumers(all, options, subscriptions, await restartUnindexed(all, subscriptions));
  await changeTopology(bus.identity.user, `bucket ${bridgeBucket}`, "none", () =>
    bus.kvm.create(bridgeBucket, { history: 1, replicas: options.replicas, storage: StorageType.File }),
  );
}
